"""What a collector took, and the files that were written, against what record-sample recorded.

    check.py otlp RECORD-FILE TRACES | perfetto FILE TRACES | speedscope FILE | prometheus FILE | report FILE
"""
import base64, json, re, sys
from checks import *

def attributes(entry): return {a["key"]: next(iter(a["value"].values()), None) for a in entry.get("attributes", [])}


def otlp(path, traces):
    requests = [json.loads(line) for line in open(path)]
    check("bodies are protobuf with no unknown field", all(r["type"] == "application/x-protobuf" and not r["unknown"] for r in requests))
    check("headers are sent", all(r["token"] == "t1" for r in requests))
    spans, metrics, logs = [], [], []
    for request in requests:
        for name, scopes, entries, into in (("resourceSpans", "scopeSpans", "spans", spans), ("resourceMetrics", "scopeMetrics", "metrics", metrics),
                                            ("resourceLogs", "scopeLogs", "logRecords", logs)):
            for resource in request["body"].get(name, []):
                about = attributes(resource["resource"])
                check("the resource names the program", about["service.name"] == "shop" and about["telemetry.sdk.language"] == "swift", about)
                for scope in resource[scopes]: into += scope[entries]
    ids = {s["spanId"] for s in spans}
    check(f"all {3 * traces + 1} spans came", len(spans) == 3 * traces + 1, len(spans))
    check("each once", len(ids) == len(spans), len(ids))
    roots = [s for s in spans if s["name"] == "GET /cart"]
    check("every child is under a root of its trace", all("parentSpanId" not in s for s in roots) and all(
        {(r["traceId"], r["spanId"]) for r in roots} >= {(s["traceId"], s["parentSpanId"])} for s in spans if s["name"] in ("query", "render")))
    check("kinds", {s["name"]: s["kind"] for s in spans} == {"GET /cart": "SPAN_KIND_SERVER", "query": "SPAN_KIND_CLIENT", "render": "SPAN_KIND_INTERNAL", "GET": "SPAN_KIND_CLIENT"})
    check("durations are exact", all(int(s["endTimeUnixNano"]) - int(s["startTimeUnixNano"]) == {"GET /cart": 10**7, "query": 2 * 10**6, "render": 3 * 10**6, "GET": 3 * 10**7}[s["name"]] for s in spans))
    failed = [s for s in spans if s["name"] == "render" and s["status"]["code"] == "STATUS_CODE_ERROR"]
    check("errors are statuses", len(failed) == (traces + 6) // 10 and all(s["status"]["message"] == "out of paper" for s in failed), len(failed))
    about = attributes(next(s for s in spans if s["name"] == "query"))
    check("masked values stay masked, texts stay whole", about["password"] == "<masked>" and about["text"] == '<b>"\x01; ünï', about)
    request = attributes(next(s for s in spans if s["name"] == "GET"))
    check("a request has the conventions' names", request["http.request.method"] == "GET" and request["http.response.status_code"] == "503"
          and request["server.address"] == "example.test" and request["network.protocol.version"] == "1.1" and request["error.type"] == "503", request)
    histogram = next(m for m in metrics if m["name"] == "db.query")["exponentialHistogram"]
    point = histogram["dataPoints"][0]
    check("a histogram", histogram["aggregationTemporality"] == "AGGREGATION_TEMPORALITY_CUMULATIVE" and point["count"] == "6" and point["zeroCount"] == "1"
          and point["positive"] == {"offset": 18, "bucketCounts": ["2", "1", "2"]} and point["min"] == 500000, point)
    check("a counter", [p["asDouble"] for m in metrics if m["name"] == "orders" and m["sum"]["isMonotonic"] for p in m["sum"]["dataPoints"]] == [41, 42])
    check("a gauge", next(m for m in metrics if m["name"] == "queue.length")["gauge"]["dataPoints"][0]["asDouble"] == -2.5)
    event = next(l for l in logs if l.get("eventName") == "checkout")
    check("an event", attributes(event)["total"] == 12.5, event)
    check("a log line", next(l for l in logs if l["body"].get("stringValue") == "low on paper")["severityText"] == "WARN")
    check("a failure", next(l for l in logs if l.get("eventName") == "scripthost.failure")["severityNumber"] == "SEVERITY_NUMBER_ERROR")


def perfetto(path, traces):
    events = json.load(open(path))["traceEvents"]
    required = {"X": {"ts", "dur", "pid", "tid", "name"}, "i": {"ts", "pid", "tid", "name", "s"}, "C": {"ts", "pid", "name", "args"}, "M": {"pid", "name", "args"}}
    check("every event has what its phase needs", all(required[e["ph"]] <= set(e) for e in events))
    check("a process is named", {"name": "shop"} in [e["args"] for e in events if e["ph"] == "M"])
    spans = [e for e in events if e.get("cat") == "span"]
    check("all spans", len(spans) == 3 * traces, len(spans))
    root = next(e for e in spans if e["name"] == "GET /cart")
    check("times are microseconds", root["dur"] == 10000 and root["ts"] > 1e15)


def speedscope(path):
    file = json.load(open(path))
    profile, frames = file["profiles"][0], file["shared"]["frames"]
    check("it follows the schema", file["$schema"] == "https://www.speedscope.app/file-format-schema.json" and profile["type"] == "sampled"
          and len(profile["samples"]) == len(profile["weights"]) and all(0 <= f < len(frames) for s in profile["samples"] for f in s))
    check("weights add up", sum(profile["weights"]) == profile["endValue"] and profile["endValue"] >= 4 * 10**8)


def prometheus(path):
    text = open(path).read()
    check("a counter has its newest value", re.search(r'^orders_total\{program="shop",pid="\d+"\} 42$', text, re.M), text)
    check("a histogram is in seconds, cumulative, and ends in +Inf", re.search(r'db_query_seconds_bucket\{[^}]*le="\+Inf"\} 6\n', text)
          and re.search(r"db_query_seconds_sum\{[^}]*\} 0\.006\n", text) and re.search(r"db_query_seconds_count\{[^}]*\} 6\n", text), text)
    counts = [int(v) for v in re.findall(r"db_query_seconds_bucket\{.*\} (\d+)", text)]
    check("buckets rise", counts == sorted(counts) and len(counts) == 5, counts)
    check("labels are escaped", 'table="carts \\"x\\"\\n"' in text, text)


def report(path):
    page = open(path, encoding="utf-8").read()
    data = page.split('<script id="data" type="application/json">')[1].split("</script>")[0]
    check("the data is JSON, and no name can end its element", json.loads(data)["sessions"][0]["program"] == "shop" and "<" not in data)
    check("nothing comes from outside", not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", page) and "@import" not in page)


what, path, *rest = sys.argv[1:]
{"otlp": otlp, "perfetto": perfetto, "speedscope": speedscope, "prometheus": prometheus, "report": report}[what](path, *map(int, rest))
finish()
