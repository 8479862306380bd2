# language.py OUT FILE COMMAND…: a language server over its standard input and output, asked about a Swift file; its answers in the order of their ids.
import json
import os
import subprocess
import sys
import threading

out, file, command = sys.argv[1], sys.argv[2], sys.argv[3:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
answers, changed, sending = {}, threading.Condition(), threading.Lock()


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    with sending:
        server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        server.stdin.flush()


def read():
    while True:
        length = 0
        while (line := server.stdout.readline()) != b"\r\n":
            if not line: return
            name, value = line.decode().split(":", 1)
            if name.lower() == "content-length": length = int(value)
        message = json.loads(server.stdout.read(length))
        if "id" in message and "method" in message: send({"id": message["id"], "result": None})
        elif "id" in message:
            with changed:
                answers[message["id"]] = message
                changed.notify_all()


threading.Thread(target=read, daemon=True).start()


def ask(id, method, params):
    send({"id": id, "method": method, "params": params})
    with changed: changed.wait_for(lambda: id in answers or server.poll() is not None, 60)


uri = "file://" + os.path.abspath(file)
document = {"textDocument": {"uri": uri}}
ask(1, "initialize", {"processId": os.getpid(), "rootUri": "file://" + os.getcwd(), "capabilities": {}})
send({"method": "initialized", "params": {}})
send({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "languageId": "swift", "version": 1, "text": open(file).read()}}})
for number in range(5): ask(10 + number, "textDocument/hover", {**document, "position": {"line": 0, "character": 7}})
# Of a file that was never opened: an error.
ask("symbols", "textDocument/documentSymbol", {"textDocument": {"uri": "file:///none.swift"}})
ask(40, "shutdown", None)
send({"method": "exit"})
server.stdin.close()
server.wait(30)
with open(out, "w") as file:
    for id in sorted(answers, key=str): print(id, json.dumps(answers[id], sort_keys=True), file=file)
sys.exit(0 if len(answers) == 8 else f"{len(answers)} answers")
