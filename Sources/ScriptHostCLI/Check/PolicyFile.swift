// PolicyFile — a policy as commands read it.
internal import Journal
internal import ScriptHost

enum PolicyFile {
  static func read(_ path: RawPath) throws(Failure) -> Policy {
    do throws(PatchError) { return try Policy(reading: path) } catch { throw .notStarted("--policy: \(error.description)") }
  }
}
