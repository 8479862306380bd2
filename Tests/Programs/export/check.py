"""What a collector took, and the files that were written, against what record-sample recorded.

    check.py otlp RECORD-FILE TRACES | perfetto FILE TRACES | packets FILE TRACES | speedscope FILE | prometheus FILE | report FILE
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
    linked = [(s["name"], l["traceId"], l["spanId"]) for s in spans for l in s.get("links", [])]
    wanted = ("query", base64.b64encode((0x2222).to_bytes(8, "big") + (9).to_bytes(8, "big")).decode(), base64.b64encode((5).to_bytes(8, "big")).decode())
    check("links", len(linked) == traces and set(linked) == {wanted}, linked[:2])
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


def unknown(message):
    """Whether a message holds fields that the definitions do not have."""
    from google.protobuf.unknown_fields import UnknownFieldSet
    if len(UnknownFieldSet(message)): return True
    return any(unknown(each) for field, value in message.ListFields() if field.message_type for each in (value if field.is_repeated else [value]))


def packets(path, traces):
    """Perfetto's own form, by its official definitions; what its importer wants of slices and tracks."""
    try: from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
    except ImportError: return print("        the package 'perfetto' is not there: packets are not held against Perfetto's definitions")
    trace = Trace()
    trace.ParseFromString(open(path, "rb").read())
    check("packets have no field that Perfetto does not know", not unknown(trace) and trace.IsInitialized())
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    check("a process is named", [t.process.process_name for t in tracks.values() if t.HasField("process")] == ["shop"])
    check("tracks are within processes", all(t.HasField("process") or t.parent_uuid in tracks for t in tracks.values()))
    open_slices, closed, wrong, last = {}, [], [], {}
    for packet in trace.packet:
        if not packet.HasField("track_event"): continue
        event = packet.track_event
        if event.track_uuid not in tracks: wrong.append(("no track", event.name))
        if event.type in (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_SLICE_END):
            # The importer sorts by time; those of one track are in their order already.
            if packet.timestamp < last.get(event.track_uuid, 0): wrong.append(("order", event.name))
            last[event.track_uuid] = packet.timestamp
        stack = open_slices.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_BEGIN: stack.append((event, packet.timestamp))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            if stack: closed.append((*stack.pop(), packet.timestamp))
            else: wrong.append(("an end without a begin", packet.timestamp))
    check("slices begin and end on their tracks, one inside of the other", not wrong and not any(open_slices.values()), wrong[:3])
    spans = [(e, b, end) for e, b, end in closed if "span" in e.categories]
    check("all spans", len(spans) == 3 * traces, len(spans))
    check("with their times", all(end - b == {"GET /cart": 10**7, "query": 2 * 10**6, "render": 3 * 10**6}[e.name] for e, b, end in spans))
    about = {a.name: a for a in next(e for e, _, _ in spans if e.name == "query").debug_annotations}
    check("masked values stay masked, texts stay whole", about["password"].string_value == "<masked>" and about["text"].string_value == '<b>"\x01; ünï', about)
    counters = [p.track_event.double_counter_value for p in trace.packet if p.track_event.type == TrackEvent.TYPE_COUNTER and tracks[p.track_event.track_uuid].name == "orders"]
    check("a counter", counters == [41, 42], counters)
    check("an event", any(p.track_event.name == "checkout" and p.track_event.type == TrackEvent.TYPE_INSTANT for p in trace.packet))


def schema():
    """speedscope's published schema of its files; None where it is not there."""
    import glob, os
    named = os.environ.get("SPEEDSCOPE_SCHEMA")
    found = [named] if named else glob.glob(os.path.join(os.environ.get("NODE_PACKAGES", ""), "speedscope", "**", "file-format-schema*.json"), recursive=True)
    return json.load(open(found[0])) if found else None


def documented(file):
    """The fields that speedscope documents of its files, with their types: nothing else, and none that is needed is missing."""
    number, integer = (int, float), int
    frame = {"name": str, "file?": str, "line?": number, "col?": number}
    sampled = {"type": ["sampled"], "name": str, "unit": ["bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds"], "startValue": number,
               "endValue": number, "samples": [[integer]], "weights": [number]}
    whole = {"$schema": ["https://www.speedscope.app/file-format-schema.json"], "shared": {"frames": [frame]}, "profiles": [sampled], "name?": str,
             "activeProfileIndex?": number, "exporter?": str}

    def faults(value, wanted, place):
        if isinstance(wanted, dict):
            if not isinstance(value, dict): return [f"{place}: no object"]
            known = {name.rstrip("?"): rule for name, rule in wanted.items()}
            return ([f"{place}: no '{name}'" for name in wanted if not name.endswith("?") and name not in value]
                    + [f"{place}: '{name}' is no field" for name in value if name not in known]
                    + [fault for name in value if name in known for fault in faults(value[name], known[name], f"{place}.{name}")])
        if isinstance(wanted, list) and isinstance(wanted[0], str): return [] if value in wanted else [f"{place}: {value!r}"]
        if isinstance(wanted, list):
            if not isinstance(value, list): return [f"{place}: no list"]
            return [fault for index, each in enumerate(value) for fault in faults(each, wanted[0], f"{place}[{index}]")]
        return [] if isinstance(value, wanted) and not isinstance(value, bool) else [f"{place}: {value!r} is no {wanted}"]

    found = faults(file, whole, "file")
    check("it has the fields that are documented, with their types, and no others", not found, found[:5])
    # The check itself finds what is wrong.
    broken = [dict(file, profiles=[{k: v for k, v in file["profiles"][0].items() if k != "unit"}]), dict(file, shared={"frames": [{"name": 1}]}), dict(file, more=1)]
    check("of wrong ones each is told", all(faults(each, whole, "file") for each in broken))


def speedscope(path):
    file = json.load(open(path))
    try: import fastjsonschema
    except ImportError: fastjsonschema = None
    published = schema()
    if published is None or fastjsonschema is None:
        print("        the packages 'speedscope' and 'fastjsonschema' are not there: the file is not held against speedscope's schema")
    else:
        try:
            fastjsonschema.compile(published)(file)
            fault = None
        except fastjsonschema.JsonSchemaException as problem: fault = problem
        check("it is valid by speedscope's published schema", fault is None, fault)
    profile, frames = file["profiles"][0], file["shared"]["frames"]
    check("it follows the schema", file["$schema"] == "https://www.speedscope.app/file-format-schema.json" and profile["type"] == "sampled"
          and len(profile["samples"]) == len(profile["weights"]) and all(0 <= f < len(frames) for s in profile["samples"] for f in s))
    documented(file)
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
{"otlp": otlp, "perfetto": perfetto, "packets": packets, "speedscope": speedscope, "prometheus": prometheus, "report": report}[what](path, *map(int, rest))
finish()
