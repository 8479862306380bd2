"""A collector for the tests: takes OTLP over HTTP, decodes bodies with the official definitions, and misbehaves on request.

    collector.py PORT-FILE RECORD-FILE [ANSWER…]     the first answers, such as 503 429 reset slow; then 200

One JSON object a line in RECORD-FILE: a request that was taken, with its spans, metrics and logs.
"""
import json, socket, struct, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

port_file, record_file, *answers = sys.argv[1:]
KINDS = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest, "/v1/logs": ExportLogsServiceRequest}


def unknown(message):
    """Whether a message holds fields that the definitions do not have."""
    from google.protobuf.unknown_fields import UnknownFieldSet
    if len(UnknownFieldSet(message)): return True
    for field, value in message.ListFields():
        if field.message_type:
            if any(unknown(each) for each in (value if field.is_repeated else [value])): return True
    return False


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = answers.pop(0) if answers else "200"
        if answer == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return self.connection.close()
        if answer == "slow": time.sleep(1)
        if answer.isdigit() and answer != "200":
            self.send_response(int(answer))
            if answer == "429": self.send_header("Retry-After", "0")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        message = KINDS[self.path]()
        message.ParseFromString(body)
        with open(record_file, "a") as file:
            file.write(json.dumps({"path": self.path, "type": self.headers["Content-Type"], "token": self.headers["X-Token"],
                                   "unknown": unknown(message), "body": MessageToDict(message)}) + "\n")
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_): pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".new", "w") as file: file.write(str(server.server_port))
import os
os.rename(port_file + ".new", port_file)
server.serve_forever()
