"""A local HTTP server with planted delays: prints its port, then serves until it is killed. What it saw goes to the file of argument 1.
Arguments 2 to 4, where they are: a certificate and its key for TLS, which is agreed so many ms late.

    /wait/FIRST/REST   the first byte of the answer after FIRST ms, the rest of the body REST ms later
    /to/PATH           a redirection to /PATH
    /secret/FIRST/REST as wait, for who has a password
"""
import http.server, json, ssl, sys, threading, time

lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # What is written goes out at once: the times here are those of the bytes.
    disable_nagle_algorithm = True

    def setup(self):
        self.agreed = 0
        if context:
            begun = time.monotonic_ns()
            time.sleep(int(sys.argv[4]) / 1000)
            self.request = context.wrap_socket(self.request, server_side=True)
            self.agreed = time.monotonic_ns() - begun
        super().setup()

    def streamed(self):
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self):
        begun = time.monotonic_ns()
        body = self.streamed() if self.headers.get("Transfer-Encoding") == "chunked" else self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = self.path.split("?")[0].strip("/").split("/")
        first = done = 0
        if parts[0] == "to":
            self.send_response(302)
            self.send_header("Location", "/" + "/".join(parts[1:]))
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif parts[0] == "secret" and not self.headers.get("Authorization"):
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="shop"')
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif parts[0] in ("wait", "secret"):
            time.sleep(int(parts[1]) / 1000)
            first = time.monotonic_ns()
            self.send_response(200)
            self.send_header("Content-Length", "2000")
            self.end_headers()
            self.wfile.write(b"x" * 1000)
            self.wfile.flush()
            time.sleep(int(parts[2]) / 1000)
            # Before it is written: the client may have it before this thread goes on.
            done = time.monotonic_ns()
            self.wfile.write(b"y" * 1000)
        else:
            self.send_error(404)
        with lock, open(sys.argv[1], "a") as seen:
            print(json.dumps({"path": self.path, "method": self.command, "sent": len(body), "trace": self.headers.get("traceparent"),
                              "begun": begun, "tls": self.agreed, "first": first, "done": done}), file=seen)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *arguments): pass


context = None
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
