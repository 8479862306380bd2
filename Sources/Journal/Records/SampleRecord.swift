// SampleRecord — where a thread was when it was asked while it ran, and how much processor time that stands for. The record's name is
// the thread's. Addresses are named by whoever reads the record. Keep in step with docs/journal.md.

/// One stack that a thread was seen at, any number of times.
package struct SampleRecord: Sendable, Equatable {
  /// A file that was mapped as code.
  package struct Image: Sendable, Hashable {
    package var path: String
    /// Hexadecimal; empty when it has none.
    package var buildID: String

    package init(path: String, buildID: String) { (self.path, self.buildID) = (path, buildID) }
  }
  /// An address in a file, without load bias. In all frames but the innermost it is behind a call.
  package struct Frame: Sendable, Hashable {
    package var image: Int
    package var address: UInt64

    package init(image: Int, address: UInt64) { (self.image, self.address) = (image, address) }
  }
  package var name: String
  /// The kernel's number of the thread.
  package var thread: UInt32
  /// Processor time, nanoseconds.
  package var weight: UInt64
  /// How often it was seen there.
  package var count: Int
  package var images: [Image]
  /// Innermost first.
  package var frames: [Frame]

  package init(name: String, thread: UInt32, weight: UInt64, count: Int, images: [Image], frames: [Frame]) {
    self.name = name
    self.thread = thread
    self.weight = weight
    self.count = count
    self.images = images
    self.frames = frames
  }

  /// Reads a record; nil when it is none of a sample.
  package init?(_ record: JournalRecord) {
    guard record.kind == .sample else { return nil }
    let fields = RecordFields(record)
    func texts(_ name: String) -> [String] { fields.list(name).map { if case .string(let text, _) = $0 { text } else { "" } } }
    let images = zip(texts("images"), texts("builds")).map { Image(path: $0, buildID: $1) }
    let frames = fields.list("frames").compactMap { value -> Frame? in
      guard case .unsigned(let word) = value, Int(word >> 48) < images.count else { return nil }
      return Frame(image: Int(word >> 48), address: word & 0xffff_ffff_ffff)
    }
    self.init(
      name: record.name, thread: UInt32(truncatingIfNeeded: fields.unsigned("thread") ?? 0), weight: fields.unsigned("cpu_ns") ?? 0,
      count: Int(fields.integer("count") ?? 1), images: images, frames: frames)
  }

  /// Writes the fields; the writer was made with the thread's name.
  package func write(into fields: inout FieldWriter) {
    fields.add("thread", UInt64(thread))
    fields.add("cpu_ns", weight)
    fields.add("count", count)
    fields.add("images", .list(images.map { .string($0.path) }))
    fields.add("builds", .list(images.map { .string($0.buildID) }))
    fields.add("frames", .list(frames.map { .unsigned(UInt64($0.image) << 48 | $0.address & 0xffff_ffff_ffff) }))
  }
}
