"""scraped.py PORT: what a Prometheus at that port has scraped of record-sample, asked by its own language."""
import json
import sys
import time
import urllib.parse
import urllib.request

from checks import *

port = sys.argv[1]


def ask(question):
    """The values of a query, when there are some; after twenty seconds none."""
    for _ in range(100):
        try:
            address = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": question})
            found = json.load(urllib.request.urlopen(address, timeout=5))["data"]["result"]
            if found: return [(each["metric"], float(each["value"][1])) for each in found]
        except OSError: pass
        time.sleep(0.2)
    return []


orders = ask("orders_total")
check("Prometheus has the counter", [v for _, v in orders] == [42.0], orders)
check("with the program as a label", [m.get("program") for m, _ in orders] == ["shop"], orders)
check("and the job is up", [v for _, v in ask("up")] == [1.0])
count = ask("db_query_seconds_count")
check("the histogram's count", [v for _, v in count] == [6.0], count)
middle = ask("histogram_quantile(0.5, db_query_seconds_bucket)")
check("and what it says of the middle is within the values", len(middle) == 1 and 0 <= middle[0][1] < 0.01, middle)
finish()
