// call-plans [--share] LIBRARY… — opens libraries and prints where the plan of each body in them expects its values.
//
// With --share, a table of how many of them are decodable and why the rest is not. Else one line per body, columns
// separated by tabs: mangled name, `exact` or `bound`, bytes of stack arguments, self, result, one column per argument,
// `hidden=` with the places of metadata and witness tables, `error=` with that of a typed error. A value is `i0:8@0+f1:4@8` (place, size, offset), `*i2` (its
// address), `-` (removed), `?` (unknown), `[0+8=…,8+8=…]` (by parts); `!` marks an owned one. With --evidence the bodies'
// machine code is asked as well, as it is for a hook, and a column before the arguments says whether the call can throw.
private import Glibc
private import HookRuntime
private import SwiftMangling

private func text(_ place: Place) -> String {
  switch place {
  case .integer(let i): "i\(i)"
  case .float(let i): "f\(i)"
  case .stack(let i): "s\(i)"
  case .selfRegister: "self"
  case .indirectResult: "sret"
  case .yielded(let i): "r\(i)"
  }
}

private func text(_ location: Location) -> String {
  switch location {
  case .pieces(let pieces): pieces.isEmpty ? "()" : pieces.map { "\(text($0.place)):\($0.size)@\($0.offset)" }.joined(separator: "+")
  case .address(let place): "*" + text(place)
  case .parts(let parts): "[" + parts.map { "\($0.offset)+\($0.size)=\(text($0.location))" }.joined(separator: ",") + "]"
  case .optimizedOut: "-"
  case .unknown(let reason): "?" + reason
  }
}

private func text(_ plan: SelfPlan) -> String {
  switch plan {
  case .none: "none"
  case .object(let place): "object:" + text(place)
  case .metatype(let place): "metatype:" + text(place)
  case .value(let plan): "value:" + (plan.access == .inPlace ? "&" : plan.access == .owned ? "!" : plan.access == .unknown ? "~" : "") + text(plan.location)
  case .unknown(let reason): "?" + reason
  }
}

private let asksCode = CommandLine.arguments.contains("--evidence")
private let arguments = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("--") }
for path in arguments {
  guard dlopen(path, RTLD_NOW | RTLD_GLOBAL) != nil else { fatalError("cannot open '\(path)': \(String(cString: dlerror()))") }
}
TypeResolver.shared.findDescriptor = { TypeCatalog.shared.descriptor($0.description) }
private let wanted = Set(arguments.map { String($0.split(separator: "/").last ?? "") })
private let planner = CallPlanner()
private var share = Share()
for image in ProcessCatalog.shared.current() where wanted.contains(String(image.path.split(separator: "/").last ?? "")) {
  for family in image.families(where: { _ in true }) {
    for body in family.bodies {
      let plan = asksCode ? image.plan(of: body, in: family) : planner.plan(body.declaration)
      share.count(plan, body)
      if CommandLine.arguments.contains("--share") { continue }
      let arguments = plan.arguments.map { ($0.isOwned ? "!" : "") + ($0.isInout ? "&" : "") + text($0.location) }
      var columns = [body.mangledName, plan.isExact ? "exact" : "bound", "\(plan.stack.bytes)", text(plan.selfPlan), text(plan.result.location)]
      if asksCode { columns.append(plan.thrown == .never ? "never" : "throws") }
      columns += arguments
      if let thrown = plan.thrownValue { columns.append("error=" + text(thrown.location)) }
      if !plan.hiddenArguments.isEmpty {
        columns.append("hidden=" + plan.hiddenArguments.map { text($0.location) }.joined(separator: " "))
      }
      print(columns.joined(separator: "\t"))
    }
  }
}
if CommandLine.arguments.contains("--share") { print(share.table) }
