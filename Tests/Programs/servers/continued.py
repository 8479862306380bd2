"""continued.py SPANS REQUESTS: the server spans of client.py's requests, by the trace and the span that each request named."""
import json, sys
from checks import *

spans = [json.loads(line)["fields"] for line in open(sys.argv[1])]
requests = int(sys.argv[2])
paths = ["/documentation/doc", "/data/documentation/doc.json", "/js/none.js", "/favicon.ico", "/css/none"]
wanted = {("%032x" % (t * 100000 + n + 1), "%016x" % (t + 1)): (paths[(t + n) % 5], f"token=<masked>&page={n}")
          for t in range(4) for n in range(requests // 4) if n % 10 != 9}
found = {(s["trace"], s.get("parent")): s for s in spans}
check("each request that its client records is a server span, in its trace and below its span", set(found) == set(wanted) and len(spans) == len(wanted),
      (len(spans), len(wanted), list(set(found) ^ set(wanted))[:3]))
wrong = [s for key, s in found.items() if (s["attributes"].get("url.path"), s["attributes"].get("url.query")) != wanted.get(key)]
check("path and query are apart, and what is secret in a query is masked", not wrong, wrong[:2])
check("each has scheme and status", all(s["attributes"]["url.scheme"] == "http" and s["attributes"]["http.response.status_code"] in (200, 404) for s in spans), spans[:1])
check("no span has the secret", not any("quite" in json.dumps(s) for s in spans))
finish()
