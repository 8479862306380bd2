// Checks — the check kit of the programs of Tests: what is compared, counted and printed, and cases that are run by name.
//
// Suites that compile programs of their own compile this file into them.
import Glibc

/// Checks that did not hold. One thread checks.
public nonisolated(unsafe) var failures = 0  // only the thread that checks writes it

/// With CHECKS_LISTED in the environment what holds is printed, too, for suites that count the lines.
private let listsChecks = getenv("CHECKS_LISTED") != nil
/// So many are printed; what is wrong with everything need not be said of all of it.
private let mostPrinted = 40

/// One check that two values are equal.
public func check<T: Equatable>(_ found: T, _ expected: T, _ what: String, line: Int = #line, file: String = #fileID) {
  if found == expected {
    if listsChecks { print("ok      \(what)") }
    return
  }
  failures += 1
  if failures <= mostPrinted { print("WRONG   \(what): found \(found), expected \(expected) (\(file):\(line))") }
}

/// Runs the cases whose names hold one of the texts, or all, and ends the program: with 0 when all checks held.
/// - Parameter tidy: what each case leaves is taken away by it.
public func runCases(_ cases: [(String, () throws -> Void)], named texts: [String], tidy: () -> Void = {}) -> Never {
  var ran = 0
  // Read before a case hooks getenv.
  _ = listsChecks
  for (name, body) in cases where texts.isEmpty || texts.contains(where: { name.contains($0) }) {
    let before = failures
    do { try body() } catch { check("\(error)", "no error", name) }
    tidy()
    print("\(failures == before ? "ok     " : "FAILED ") \(name)")
    ran += 1
  }
  print("\(ran) checks, \(failures) failures")
  exit(failures == 0 && ran > 0 ? 0 : 1)
}
