# client.py PORT REQUESTS OUT: requests from four threads at once, each on a connection of its own (docc resets those that are kept); their answers without what changes with the hour.
import http.client
import sys
import threading

port, requests, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
paths = ["/documentation/doc", "/data/documentation/doc.json", "/js/none.js", "/favicon.ico", "/css/none"]
answers = {}


def drive(thread):
    for number in range(requests // 4):
        connection = http.client.HTTPConnection("localhost", port, timeout=60)
        path = paths[(thread + number) % len(paths)]
        # Every tenth is of a client that does not record it.
        flags = 0 if number % 10 == 9 else 1
        connection.request("GET", path + f"?token=quite{number}&page={number}", headers={"traceparent": "00-%032x-%016x-%02x" % (thread * 100000 + number + 1, thread + 1, flags)})
        answer = connection.getresponse()
        body = answer.read()
        headers = sorted((k, v) for k, v in answer.getheaders() if k.lower() not in ("date", "last-modified"))
        answers[thread, number] = (path, answer.status, headers, body)
        connection.close()


threads = [threading.Thread(target=drive, args=(t,)) for t in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with open(out, "w") as file:
    for key in sorted(answers): print(key, answers[key], file=file)
print(len(answers))
sys.exit(0 if len(answers) == requests else 1)
