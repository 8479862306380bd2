// PerfettoTrace — the journal as a trace that ui.perfetto.dev opens: packets of perfetto.protos.Trace, or the JSON form of trace events for
// other viewers.
internal import Journal

package enum PerfettoTrace {
  // MARK: Protobuf

  /// Trace { packet = 1 }; times are nanoseconds since 1970.
  package static func bytes(_ items: [TelemetryItem]) -> [UInt8] {
    let timeline = PerfettoTimeline(items)
    var packets = PerfettoPackets(timeline.sessions)
    var open: [(end: UInt64, track: UInt64)] = []
    for slice in timeline.slices {
      let track = packets.track(slice.item, lane: slice.lane)
      // Slices come lane by lane: what is open ends before the next one that it does not hold.
      while let last = open.last, last.track != track || last.end <= slice.start {
        packets.end(last.end, last.track)
        open.removeLast()
      }
      packets.event(.begin, slice.start, track, slice.name, slice.category, slice.fields)
      open.append((slice.end, track))
    }
    for last in open.reversed() { packets.end(last.end, last.track) }
    for mark in timeline.marks {
      packets.event(.instant, mark.item.record.wall, packets.track(mark.item, lane: 0), mark.name, mark.category, mark.fields)
    }
    for count in timeline.counts { packets.count(count) }
    return packets.bytes
  }

  // MARK: JSON

  /// One JSON object with all events; times are microseconds.
  package static func json(_ items: [TelemetryItem]) -> String {
    let timeline = PerfettoTimeline(items)
    var json = JSONText()
    json.object {
      $0.add("displayTimeUnit", "ms")
      $0.array("traceEvents") { events in
        for session in timeline.sessions { name("process_name", session.programName, session, nil, &events) }
        var named: Set<PerfettoTimeline.Place> = []
        for slice in timeline.slices {
          let place = PerfettoTimeline.Place(session: slice.item.session, thread: slice.item.record.thread, lane: slice.lane)
          if slice.lane > 0, named.insert(place).inserted {
            name("thread_name", "\(place.thread) (\(slice.lane + 1))", slice.item.session, identifier(place.thread, slice.lane), &events)
          }
          events.object {
            $0.add("ph", "X")
            $0.add("name", slice.name)
            $0.add("cat", slice.category)
            time(slice.start, &$0)
            $0.add("dur", Double(slice.duration) / 1000)
            $0.add("pid", slice.item.session.pid)
            $0.add("tid", identifier(place.thread, slice.lane))
            $0.add("args", slice.fields)
          }
        }
        for mark in timeline.marks {
          events.object {
            $0.add("ph", "i")
            $0.add("s", "t")
            $0.add("name", mark.name)
            $0.add("cat", mark.category)
            time(mark.item.record.wall, &$0)
            $0.add("pid", mark.item.session.pid)
            $0.add("tid", mark.item.record.thread)
            $0.add("args", mark.fields)
          }
        }
        for count in timeline.counts {
          events.object {
            $0.add("ph", "C")
            $0.add("name", count.name)
            time(count.item.record.wall, &$0)
            $0.add("pid", count.item.session.pid)
            $0.add("tid", count.item.record.thread)
            $0.object("args") { $0.add(count.label, count.value) }
          }
        }
      }
    }
    return json.text
  }

  private static func name(_ kind: String, _ name: String, _ session: JournalSession, _ thread: UInt64?, _ events: inout JSONText) {
    events.object {
      $0.add("ph", "M")
      $0.add("name", kind)
      $0.add("pid", session.pid)
      if let thread { $0.add("tid", thread) }
      $0.object("args") { $0.add("name", name) }
    }
  }

  /// The kernel's numbers of threads are below 2^22.
  private static func identifier(_ thread: UInt32, _ lane: Int) -> UInt64 { UInt64(thread) | UInt64(lane) << 22 }

  private static func time(_ wall: UInt64, _ event: inout JSONText) {
    // Whole microseconds and thousandths: a Double loses digits of today's nanoseconds.
    event.raw("ts", "\(wall / 1000).\(String(String(wall % 1000 + 1000).dropFirst()))")
  }
}
