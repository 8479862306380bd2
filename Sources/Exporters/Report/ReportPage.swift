// ReportPage — the report: one HTML file with its data, style and script inside, and nothing from outside.
//
// The script puts every name into the page as text, never as markup; the data is JSON in which `<` is escaped.

package enum ReportPage {
  /// - Parameter data: what ReportData.json answers.
  package static func html(_ data: String) -> String {
    head + "<script id=\"data\" type=\"application/json\">" + data + "</script>\n<script>\n" + script + "</script>\n</body>\n</html>\n"
  }

  private static let head = #"""
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="data:,">
    <title>ScriptHost report</title>
    <style>
    :root { --back: #fff; --text: #1c2430; --soft: #5d6b7c; --line: #dfe5ec; --bar: #3b7dd8; --bad: #c8372d; --slow: #d98a1f; --card: #f6f8fb; }
    @media (prefers-color-scheme: dark) {
      :root { --back: #14181e; --text: #e3e8ee; --soft: #93a1b2; --line: #2c343f; --bar: #5b9bf0; --bad: #f0675c; --slow: #e8a445; --card: #1b2129; }
    }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 1200px; padding: 16px; background: var(--back); color: var(--text); font: 14px/1.45 system-ui, sans-serif; }
    h1 { font-size: 22px; margin: 8px 0; }
    h2 { font-size: 16px; margin: 28px 0 8px; border-bottom: 1px solid var(--line); padding-bottom: 4px; }
    nav a { margin-right: 12px; color: var(--bar); }
    .soft { color: var(--soft); }
    .bad { color: var(--bad); }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
    th, td { text-align: left; padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
    th { color: var(--soft); font-weight: 500; cursor: pointer; white-space: nowrap; }
    td.n, th.n { text-align: right; white-space: nowrap; }
    td.name { overflow-wrap: anywhere; min-width: 140px; }
    .cards { display: flex; flex-wrap: wrap; gap: 8px; }
    .card { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 8px 12px; min-width: 120px; }
    .card b { display: block; font-size: 18px; }
    .row { position: relative; height: 20px; margin: 1px 0; background: var(--card); overflow: hidden; }
    .row span { white-space: pre; position: absolute; z-index: 1; left: 4px; top: 0; line-height: 20px; font-size: 12px;
      white-space: nowrap; pointer-events: none; }
    .row i { position: absolute; top: 2px; bottom: 2px; min-width: 2px; background: var(--bar); border-radius: 2px; opacity: .5; }
    .row i.bad { background: var(--bad); } .row i.event { background: var(--slow); }
    .flame { position: relative; }
    .flame div { position: absolute; height: 18px; overflow: hidden; white-space: nowrap; font-size: 11px; line-height: 18px; padding: 0 3px;
      border: 1px solid var(--back); border-radius: 2px; background: var(--slow); color: #14181e; }
    details { margin: 6px 0; } summary { cursor: pointer; white-space: pre-wrap; }
    pre { margin: 4px 0 8px 16px; overflow-x: auto; font-size: 12px; }
    input { font: inherit; padding: 4px 8px; width: 100%; max-width: 400px; border: 1px solid var(--line); border-radius: 4px;
      background: var(--card); color: var(--text); }
    </style>
    </head>
    <body>
    <h1>ScriptHost report</h1>
    <div id="page"></div>

    """#

  private static let script = #"""
    "use strict";
    const data = JSON.parse(document.getElementById("data").textContent);
    const page = document.getElementById("page");
    // An element with a class, and children that are elements or texts.
    function make(tag, name, ...children) {
      const made = document.createElement(tag);
      if (name) made.className = name;
      for (const child of children) made.append(child);
      return made;
    }
    function time(us) {
      if (us === undefined || us === null) return "";
      if (us >= 60e6) return (us / 60e6).toFixed(1) + " min";
      if (us >= 1e6) return (us / 1e6).toFixed(2) + " s";
      if (us >= 1e3) return (us / 1e3).toFixed(1) + " ms";
      return us.toFixed(us < 10 ? 1 : 0) + " µs";
    }
    function clock(us) { return new Date(us / 1000).toISOString().slice(11, 23); }
    function program(index) { const s = data.sessions[index]; return s.program + " " + s.pid; }
    function number(value) { return value === undefined || value === null ? "" : Number(value).toLocaleString("en", { maximumFractionDigits: 3 }); }
    const links = make("nav");
    function section(id, title, rows, body) {
      if (!rows.length) return;
      const out = data.leftOut[id] ? " (newest; " + number(data.leftOut[id]) + " older ones left out)" : "";
      const heading = make("h2", "", title + " ", make("span", "soft", number(rows.length) + out));
      heading.id = id;
      const link = make("a", "", title);
      link.href = "#" + id;
      links.append(link);
      page.append(heading, body(rows));
    }
    // A table whose columns are [title, text of a row, value to sort by]; a column with a value is right-aligned.
    function table(rows, columns, most = 500) {
      const body = make("tbody");
      const head = make("tr");
      let shown = rows;
      function fill() {
        body.replaceChildren(...shown.slice(0, most).map(row => {
          const line = make("tr");
          for (const [, text, value] of columns) {
            const cell = text(row);
            line.append(make("td", value ? "n" : "name", cell instanceof Node ? cell : String(cell ?? "")));
          }
          return line;
        }));
      }
      for (const [title, text, value] of columns) {
        const cell = make("th", value ? "n" : "", title);
        let rising = false;
        cell.onclick = () => {
          rising = !rising;
          const key = value || text;
          shown = [...rows].sort((a, b) => { const x = key(a) ?? 0, y = key(b) ?? 0; return (x < y ? -1 : x > y ? 1 : 0) * (rising ? -1 : 1); });
          fill();
        };
        head.append(cell);
      }
      fill();
      const all = make("div", "scroll", make("table", "", make("thead", "", head), body));
      if (rows.length > most) all.append(make("p", "soft", "the first " + most + " of " + number(rows.length)));
      return all;
    }
    // Bars on one line of time; a row that has parts is a bar for each of them.
    function bars(rows, label, start, length, style, indent = () => 0) {
      const first = Math.min(...rows.map(start)), last = Math.max(...rows.map(r => start(r) + length(r)), first + 1);
      const all = make("div");
      for (const row of rows) {
        const text = make("span", "", label(row));
        text.style.left = 4 + 12 * indent(row) + "px";
        const line = make("div", "row", text);
        for (const part of row.parts || [row]) {
          const bar = make("i", style(part));
          bar.style.left = 100 * (start(part) - first) / (last - first) + "%";
          bar.style.width = Math.max(0.1, 100 * length(part) / (last - first)) + "%";
          if (row.parts) bar.title = clock(start(part)) + "  " + label(part);
          line.append(bar);
        }
        line.title = label(row) + (row.about ? "\n" + row.about : "");
        all.append(line);
      }
      return all;
    }

    page.append(make("p", "soft", "made " + data.made), links);
    const cards = make("div", "cards");
    for (const s of data.sessions.slice(-12)) {
      cards.append(make(
        "div", "card", make("b", "", s.program), make("div", "soft", "pid " + s.pid + ", " + time(s.end - s.start)),
        make("div", "soft", "build " + (s.build || "unknown").slice(0, 12))));
    }
    page.append(make("h2", "", "Runs"), cards);

    section("startup", "Start-up", data.startup, rows =>
      bars(rows, r => r.name + "  " + time(r.at) + "  (" + time(r.dur) + ")", r => r.at - r.dur, r => r.dur, () => ""));
    // Screens as long as they were there, and what was tracked meanwhile, the newest of both: a row for each path and each name.
    const screens = data.screens.filter(r => r.phase === "disappear").slice(-1000)
      .map(r => ({ row: r.path, label: r.path + "  " + time(r.dur), start: r.t - r.dur, dur: r.dur, style: "" }));
    const tracked = data.events.filter(r => r.kind === "event").slice(-1000)
      .map(r => ({ row: r.name, label: r.name + (r.fields ? "  " + r.fields : ""), start: r.t, dur: 0, style: "event" }));
    const lanes = new Map();
    for (const r of [...screens, ...tracked].sort((a, b) => a.start - b.start)) {
      const key = r.style + " " + r.row;
      if (!lanes.has(key)) lanes.set(key, []);
      lanes.get(key).push(r);
    }
    section("screens", "Screens and events", [...lanes.values()], lanes => bars(
      lanes.slice(0, 300).map(parts => parts.length === 1 ? parts[0] : {
        label: parts[0].row + "  ×" + number(parts.length), start: parts[0].start,
        dur: Math.max(...parts.map(r => r.start + r.dur)) - parts[0].start, parts }),
      r => r.label, r => r.start, r => r.dur, r => r.style));

    section("spans", "Traces", data.spans, spans => {
      const byTrace = new Map();
      for (const s of spans) { if (!byTrace.has(s.trace)) byTrace.set(s.trace, []); byTrace.get(s.trace).push(s); }
      const length = list => Math.max(...list.map(s => s.start + s.dur)) - Math.min(...list.map(s => s.start));
      const traces = [...byTrace.values()].sort((a, b) => length(b) - length(a)).slice(0, 20);
      const all = make("div", "", make("p", "soft", "the " + traces.length + " longest of " + number(byTrace.size)));
      for (const list of traces) {
        const known = new Map(list.map(s => [s.span, s]));
        const children = new Map();
        for (const s of list) {
          const key = known.has(s.parent) ? s.parent : "";
          if (!children.has(key)) children.set(key, []);
          children.get(key).push(s);
        }
        const ordered = [];
        const walk = (key, depth) => {
          for (const s of (children.get(key) || []).sort((a, b) => a.start - b.start)) {
            if (s.depth !== undefined) continue;
            s.depth = depth;
            ordered.push(s);
            walk(s.span, depth + 1);
          }
        };
        walk("", 0);
        if (!ordered.length) continue;
        const root = ordered[0];
        const title = make(
          "summary", "", root.name + "  " + time(length(list)) + "  ",
          make("span", "soft",
            (root.about ? root.about + "  " : "") + (list.length === 1 ? "1 span, " : list.length + " spans, ") + program(root.s) + ", "
              + clock(root.start)));
        if (list.some(s => s.error)) title.append(make("span", "bad", "  " + list.find(s => s.error).error));
        const details = make("details", "", title);
        details.ontoggle = () => {
          if (details.childElementCount === 1) details.append(bars(
            ordered.slice(0, 1000), s => s.name + "  " + time(s.dur) + (s.error ? "  " + s.error : ""), s => s.start, s => s.dur,
            s => s.error ? "bad" : "", s => s.depth));
        };
        if (list === traces[0]) details.open = true;
        all.append(details);
      }
      return all;
    });

    section("network", "Network", data.network, rows => table(rows, [
      ["request", r => r.method + " " + r.url], ["status", r => r.failed ? make("span", "bad", r.status) : r.status],
      ["queued", r => time(r.queued), r => r.queued], ["DNS", r => time(r.dns), r => r.dns], ["connect", r => time(r.connect), r => r.connect],
      ["TLS", r => time(r.tls), r => r.tls],
      ["first byte", r => time(r.first), r => r.first], ["all", r => time(r.dur), r => r.dur],
      ["sent", r => number(r.sent), r => r.sent], ["received", r => number(r.received), r => r.received], ["at", r => clock(r.start)]]));

    section("stalls", "Stalls", data.stalls, rows => {
      const all = make("div");
      for (const r of [...rows].sort((a, b) => b.dur - a.dur).slice(0, 100)) {
        all.append(make(
          "details", "",
          make("summary", "", r.name + "  " + time(r.dur) + "  ", make("span", "soft", clock(r.start) + ", " + program(r.s))),
          make("pre", "", r.stack.join("\n"))));
      }
      return all;
    });

    section("crashes", "Crashes", data.crashes, rows => {
      const all = make("div");
      for (const r of [...rows].sort((a, b) => b.t - a.t).slice(0, 100)) {
        const title = make(
          "summary", "", make("span", "bad", r.title), "  ",
          make("span", "soft", clock(r.t) + ", " + r.program + " " + r.pid + (r.patch ? ", in " + r.patch : "")));
        const details = make("details", "", title);
        if (r.stack.length) details.append(make("p", "soft", "thread " + r.thread), make("pre", "", r.stack.join("\n")));
        if (r.crumbs.length) details.append(make("p", "soft", "what happened before, newest last"), make("pre", "", r.crumbs.join("\n")));
        details.open = all.childElementCount === 0;
        all.append(details);
      }
      return all;
    });

    section("flame", "Where time went", data.stacks, rows => {
      // A tree of names with their weights, drawn as boxes: width is time, callers above.
      const root = { name: "", ns: 0, inside: new Map() };
      for (const r of rows) {
        let at = root;
        root.ns += r.ns;
        for (const name of r.stack) {
          if (!at.inside.has(name)) at.inside.set(name, { name, ns: 0, inside: new Map() });
          at = at.inside.get(name);
          at.ns += r.ns;
        }
      }
      const flame = make("div", "flame");
      let deepest = 0;
      const draw = (node, left, depth) => {
        deepest = Math.max(deepest, depth);
        for (const child of [...node.inside.values()].sort((a, b) => b.ns - a.ns)) {
          const width = 100 * child.ns / root.ns;
          if (width >= 0.1) {
            const box = make("div", "", child.name);
            box.style.cssText = `left:${left}%;width:${width}%;top:${19 * depth}px`;
            box.title = child.name + "  " + time(child.ns / 1000) + "  " + width.toFixed(1) + " %";
            flame.append(box);
            draw(child, left, depth + 1);
          }
          left += width;
        }
      };
      draw(root, 0, 0);
      flame.style.height = 19 * (deepest + 1) + "px";
      return flame;
    });

    section("totals", "By name", data.totals, rows => table(rows, [
      ["kind", r => r.kind], ["name", r => r.name], ["count", r => number(r.count), r => r.count],
      ["errors", r => r.errors ? make("span", "bad", number(r.errors)) : "", r => r.errors],
      ["time", r => r.time ? time(r.time) : "", r => r.time], ["mean", r => r.time ? time(r.time / r.count) : "", r => r.time / r.count],
      ["longest", r => r.longest ? time(r.longest) : "", r => r.longest]]));

    section("costs", "What hooks and rules take", data.costs, rows => table(rows, [
      ["patch", r => r.patch], ["", r => r.verb], ["on", r => r.on], ["calls", r => number(r.calls), r => r.calls],
      ["per call", r => r.time === undefined ? "" : time(r.time / r.calls), r => r.time / r.calls],
      ["in all", r => time(r.time), r => r.time],
      ["of the run",
        r => r.time === undefined ? "" : (100 * r.time / Math.max(1, data.sessions[r.s].end - data.sessions[r.s].start)).toFixed(2) + " %",
        r => r.time],
      ["program", r => program(r.s)]]));

    // A column of what a metric measures.
    const measured = name => [name, r => r.unit === "ns" && r[name] !== undefined ? time(r[name] / 1000) : number(r[name]), r => r[name]];
    section("metrics", "Metrics", data.metrics, rows => table(rows, [
      ["name", r => r.name], ["by", r => r.by], ["unit", r => r.unit === "ns" ? "time" : r.unit], measured("value"),
      ["count", r => number(r.count), r => r.count], measured("mean"), measured("p50"), measured("p99"), measured("max"),
      ["program", r => program(r.s)]]));

    section("events", "Events and logs", data.events, rows => {
      const all = make("div");
      const search = make("input");
      search.placeholder = "search";
      const place = make("div");
      const show = () => {
        const word = search.value.toLowerCase();
        const found = word ? rows.filter(r => (r.name + " " + r.fields + " " + (r.trace || "")).toLowerCase().includes(word)) : rows;
        place.replaceChildren(table([...found].reverse(), [
          ["at", r => clock(r.t)], ["kind", r => r.kind === "failure" ? make("span", "bad", r.kind) : r.kind], ["name", r => r.name],
          ["fields", r => r.fields], ["program", r => program(r.s)]], 300));
      };
      search.oninput = show;
      show();
      all.append(search, place);
      return all;
    });
    if (!links.childElementCount) page.append(make("p", "soft", "nothing was recorded"));

    """#
}
