// FoldedStacks — where time went, as stacks with weights: for flame graphs, and for speedscope.
//
// Spans give their own time (without that of the spans inside), stalls the stack that was seen, samples the processor time used there.
// Weights are nanoseconds.
internal import Journal

package struct FoldedStacks: Sendable {
  /// A stack, outermost first, and the nanoseconds spent in its innermost frame.
  package private(set) var weights: [[String]: UInt64] = [:]

  package init(_ items: [TelemetryItem]) {
    var spans: [Key: (span: SpanRecord, program: String)] = [:]
    var children: [Key: UInt64] = [:]
    var names = SampleNames()
    for item in items {
      switch item.content {
      case .span(let span): spans[Key(span.trace, span.span)] = (span, item.session.programName)
      case .network(let request):
        let span = SpanRecord(request, item)
        spans[Key(span.trace, span.span)] = (span, item.session.programName)
      case .stall(let stall) where stall.isOver && !stall.stack.isEmpty:
        weights[[item.session.programName, "stall \(stall.name)"] + stall.stack.reversed(), default: 0] += stall.duration
      case .sample(let sample):
        weights[[item.session.programName, "on processor"] + names.stack(sample), default: 0] += sample.weight
      default: break
      }
    }
    for (span, _) in spans.values { if let parent = span.parent { children[Key(span.trace, parent), default: 0] += span.duration } }
    for (key, (span, program)) in spans {
      // Children that ran at the same time may add up to more than their parent.
      let inside = children[key] ?? 0
      let own = span.duration > inside ? span.duration - inside : 0
      guard own > 0 else { continue }
      var stack = [span.name]
      var each = span.parent
      while let parent = each, let above = spans[Key(span.trace, parent)], stack.count < 256 {
        stack.append(above.span.name)
        each = above.span.parent
      }
      stack.append(program)
      weights[stack.reversed(), default: 0] += own
    }
  }

  private struct Key: Hashable {
    let trace: TraceID
    let span: UInt64
    init(_ trace: TraceID, _ span: UInt64) { (self.trace, self.span) = (trace, span) }
  }

  private var sorted: [(key: [String], value: UInt64)] { weights.sorted { $0.key.lexicographicallyPrecedes($1.key) } }

  /// One stack a line: frames with semicolons between, a blank, the weight.
  package var text: String {
    sorted.map { stack, weight in
      stack.map { String($0.map { $0 == ";" || $0.isNewline ? " " : $0 }) }.joined(separator: ";") + " \(weight)\n"
    }.joined()
  }

  /// A file for speedscope.app: one sampled profile.
  package func speedscope(named name: String) -> String {
    var indices: [String: Int] = [:]
    var frames: [String] = []
    let samples = sorted
    for (stack, _) in samples {
      for frame in stack where indices[frame] == nil {
        indices[frame] = frames.count
        frames.append(frame)
      }
    }
    var json = JSONText()
    json.object {
      $0.add("$schema", "https://www.speedscope.app/file-format-schema.json")
      $0.add("name", name)
      $0.add("exporter", "scripthost")
      $0.object("shared") { $0.array("frames") { list in for frame in frames { list.object { $0.add("name", frame) } } } }
      $0.array("profiles") {
        $0.object {
          $0.add("type", "sampled")
          $0.add("name", name)
          $0.add("unit", "nanoseconds")
          $0.add("startValue", 0)
          $0.add("endValue", samples.reduce(0) { $0 + $1.value })
          $0.array("samples") { list in for (stack, _) in samples { list.array { row in for frame in stack { row.add(nil, indices[frame]!) } } } }
          $0.array("weights") { list in for (_, weight) in samples { list.add(nil, weight) } }
        }
      }
    }
    return json.text
  }
}
