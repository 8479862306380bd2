// PerfettoPackets — the packets of a Perfetto trace, in the messages of perfetto/trace/trace_packet.proto and perfetto/trace/track_event.
internal import Journal

struct PerfettoPackets {
  /// TrackEvent.Type.
  enum Kind: UInt64 { case begin = 1, end = 2, instant = 3, counter = 4 }

  private var writer = ProtobufWriter()
  private var sessions: [JournalSession: UInt64] = [:]
  private var tracks: [PerfettoTimeline.Place: UInt64] = [:]
  private var counters: [String: UInt64] = [:]
  var bytes: [UInt8] { writer.bytes }

  /// Begins with a track for each process.
  init(_ sessions: [JournalSession]) {
    for session in sessions {
      let track = UInt64(self.sessions.count + 1) << 40
      self.sessions[session] = track
      describe {
        $0.uint(1, track)
        // ProcessDescriptor { pid = 1, process_name = 6 }.
        $0.message(3) {
          $0.int(1, Int64(session.pid))
          $0.string(6, session.programName)
        }
      }
    }
  }

  /// The track of a thread's lane, described when it is first asked for.
  mutating func track(_ item: TelemetryItem, lane: Int) -> UInt64 {
    let thread = item.record.thread
    let place = PerfettoTimeline.Place(session: item.session, thread: thread, lane: lane)
    if let track = tracks[place] { return track }
    let process = sessions[item.session]!
    let track = process + UInt64(tracks.count + 1)
    tracks[place] = track
    describe {
      $0.uint(1, track)
      if lane > 0 { $0.string(2, "\(thread) (\(lane + 1))") }
      // ThreadDescriptor { pid = 1, tid = 2 }.
      if lane == 0 {
        $0.message(4) {
          $0.int(1, Int64(item.session.pid))
          $0.int(2, Int64(thread))
        }
      }
      $0.uint(5, process)
    }
    return track
  }

  /// TracePacket { timestamp = 8, trusted_packet_sequence_id = 10, track_event = 11 };
  /// TrackEvent { debug_annotations = 4, type = 9, track_uuid = 11, categories = 22, name = 23 }.
  mutating func event(_ kind: Kind, _ time: UInt64, _ track: UInt64, _ name: String, _ category: String, _ fields: [Field]) {
    packet(time) {
      $0.message(11) {
        for field in fields { $0.annotation(4, field.name, field.value) }
        $0.uint(9, kind.rawValue)
        $0.uint(11, track)
        $0.string(22, category)
        $0.string(23, name)
      }
    }
  }

  mutating func end(_ time: UInt64, _ track: UInt64) {
    packet(time) {
      $0.message(11) {
        $0.uint(9, Kind.end.rawValue)
        $0.uint(11, track)
      }
    }
  }

  /// A value of a series, which has a track of its own; double_counter_value = 44.
  mutating func count(_ count: PerfettoTimeline.Count) {
    let process = sessions[count.item.session]!
    let name = count.label == "value" ? count.name : "\(count.name) \(count.label)"
    let key = "\(process) \(name)"
    let track = counters[key] ?? process + (1 << 39) + UInt64(counters.count + 1)
    if counters[key] == nil {
      counters[key] = track
      describe {
        $0.uint(1, track)
        $0.string(2, name)
        $0.uint(5, process)
        $0.message(8) { _ in }
      }
    }
    packet(count.item.record.wall) {
      $0.message(11) {
        $0.uint(9, Kind.counter.rawValue)
        $0.uint(11, track)
        $0.double(44, count.value)
      }
    }
  }

  private mutating func packet(_ time: UInt64, _ body: (inout ProtobufWriter) -> Void) {
    writer.message(1) {
      $0.uint(8, time)
      $0.uint(10, 1)
      body(&$0)
    }
  }

  /// TracePacket { track_descriptor = 60 }; TrackDescriptor { uuid = 1, name = 2, process = 3, thread = 4, parent_uuid = 5, counter = 8 }.
  private mutating func describe(_ body: (inout ProtobufWriter) -> Void) {
    writer.message(1) {
      $0.uint(10, 1)
      $0.message(60, body)
    }
  }
}

extension ProtobufWriter {
  /// DebugAnnotation { bool = 2, uint = 3, int = 4, double = 5, string = 6, name = 10, dict_entries = 11, array_values = 12 }.
  fileprivate mutating func annotation(_ field: Int, _ name: String?, _ value: FieldValue) {
    message(field) {
      switch value {
      case .bool(let value): $0.bool(2, value)
      case .unsigned(let value): $0.uint(3, value)
      case .integer(let value): $0.int(4, value)
      case .double(let value): $0.double(5, value)
      case .list(let values): for value in values { $0.annotation(12, nil, value) }
      case .object(let fields): for field in fields { $0.annotation(11, field.name, field.value) }
      case .null: $0.string(6, "nil")
      default: $0.string(6, value.plainText)
      }
      if let name { $0.string(10, name) }
    }
  }
}
