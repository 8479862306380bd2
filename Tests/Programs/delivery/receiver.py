"""A collector in trouble: takes logs of OTLP over HTTP, is slow, busy, resets connections before and after it kept what they brought, and is away at
times. By signal USR1 it recovers.

    receiver.py PORT-FILE KEPT-FILE SEED

A line in KEPT-FILE for each log record that it kept: its uid, the event's thread and number ("-" for other records).
"""
import os, random, signal, socket, struct, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

port_file, kept_file, seed = sys.argv[1:]
drawn = random.Random(int(seed))
lock = threading.Lock()
recovered = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: recovered.set())
kept = open(kept_file, "a")
counts = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            manner = "take" if recovered.is_set() else drawn.choices(["take", "slow", "reset", "late reset", "503", "429"], [60, 10, 8, 10, 6, 6])[0]
            counts[manner] = counts.get(manner, 0) + 1
        if manner == "reset": return self.reset()
        if manner == "slow": time.sleep(0.2)
        if manner in ("503", "429"):
            self.send_response(int(manner))
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if self.path == "/v1/logs": self.keep(body)
        # Kept, and nobody is told so: the same records come again.
        if manner == "late reset": return self.reset()
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def keep(self, body):
        message = ExportLogsServiceRequest()
        message.ParseFromString(body)
        lines = []
        for resource in message.resource_logs:
            for scope in resource.scope_logs:
                for record in scope.log_records:
                    values = {a.key: a.value for a in record.attributes}
                    if record.event_name == "tick": about = f"{values['thread'].int_value} {values['number'].int_value}"
                    else: about = "- -"
                    lines.append(f"{values['log.record.uid'].string_value} {about}\n")
        with lock:
            kept.write("".join(lines))
            kept.flush()

    def log_message(self, *_): pass


class Server(ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True

    def handle_error(self, *_): pass  # clients that are killed


port = 0
while True:
    server = Server(("127.0.0.1", port), Handler)
    port = server.server_port
    if not os.path.exists(port_file):
        with open(port_file + ".new", "w") as file: file.write(str(port))
        os.rename(port_file + ".new", port_file)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    if recovered.wait(0.5 + drawn.random()): break
    # Away: connections are refused.
    server.shutdown()
    server.server_close()
    recovered.wait(0.2 + 0.3 * drawn.random())
recovered.wait()
threading.Event().wait()
