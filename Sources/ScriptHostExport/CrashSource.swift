// CrashSource — the crashes of a state directory that exporters have not passed on.
internal import Exporters
internal import Journal
internal import ScriptHost

struct CrashSource {
  private let state: RawPath
  private let program: String?
  private let since: UInt64

  /// - Parameters: as those of JournalSource; no state directory, no crashes.
  init?(state: String?, program: String?, since: UInt64) {
    guard let state else { return nil }
    self.state = RawPath(Array(state.utf8))
    self.program = program
    self.since = since
  }

  /// Those of processes that are no more, oldest first.
  /// - Parameter known: identifiers of crashes that are left out; those that are not there any more are taken out of it.
  func all(except known: inout Set<String>) -> [CrashItem] {
    let files = CrashFile.all(in: state).filter { $0.ending == .crashed || $0.ending == .killed }.map { (file: $0, session: session($0)) }
    known.formIntersection(files.map { CrashItem.identifier(of: $0.session) })
    return files.filter { (program == nil || $0.session.programName == program) && !known.contains(CrashItem.identifier(of: $0.session)) }
      .map(item).filter { $0.wall >= since }
  }
  func all() -> [CrashItem] {
    var none: Set<String> = []
    return all(except: &none)
  }

  private func session(_ file: CrashFile) -> JournalSession {
    JournalSession(
      program: RawPath(Array(file.program.utf8)), pid: file.process, bootID: file.bootID, buildID: file.buildID, startWall: file.started,
      startMonotonic: 0)
  }

  private func item(_ file: CrashFile, _ session: JournalSession) -> CrashItem {
    let report = CrashReport(file.report)
    return CrashItem(
      session: session, wall: report?.wall ?? file.lastSeen, thread: report?.thread ?? Int(file.process),
      type: report.map { CrashText.signal($0.signal) } ?? "killed", message: report?.message ?? "", title: CrashText.ending(file, report),
      suspect: report.flatMap { CrashText.suspects(file, $0).first }.map { "\($0.patch) (\($0.place))" } ?? "",
      stack: report.map(CrashText.stack) ?? [], crumbs: file.crumbs.suffix(40).map { .init(time: $0.time, thread: Int($0.thread), text: $0.text) })
  }
}
