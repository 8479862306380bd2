// CursorFile — how far one destination was served, kept between runs of the sidecar.
internal import Exporters
internal import Foundation

struct CursorFile {
  let path: String

  /// An empty cursor when there is none, or when it cannot be read: records then come again, which receivers know by their ids.
  func load() -> ExportCursor {
    var cursor = ExportCursor()
    if let data = FileManager.default.contents(atPath: path), let read = try? JSONDecoder().decode([String: [Int]].self, from: data) {
      // Offsets of a damaged file would skip records.
      cursor.positions = read.filter { $0.value.allSatisfy { $0 >= 0 } }
    }
    return cursor
  }

  func save(_ cursor: ExportCursor) throws {
    guard !path.isEmpty else { return }
    let file = URL(fileURLWithPath: path)
    do {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try JSONEncoder().encode(cursor.positions).write(to: file, options: .atomic)
    } catch { throw ExportJob.Failure(sentence: "cannot keep how far was exported in '\(path)': \(error.localizedDescription)") }
  }
}
