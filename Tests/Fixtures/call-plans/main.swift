// call-plans LIBRARY… — opens libraries and prints where the plan of each body in them expects its values.
//
// One line per body, columns separated by tabs: mangled name, `exact` or `bound`, bytes of stack arguments, self,
// result, one column per argument. A value is `i0:8@0+f1:4@8` (place, size, offset), `*i2` (its address), `-`
// (removed), `?` (unknown); `!` marks an owned one.
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
  }
}

private func text(_ location: Location) -> String {
  switch location {
  case .pieces(let pieces): pieces.isEmpty ? "()" : pieces.map { "\(text($0.place)):\($0.size)@\($0.offset)" }.joined(separator: "+")
  case .address(let place): "*" + text(place)
  case .optimizedOut: "-"
  case .unknown(let reason): "?" + reason
  }
}

private func text(_ plan: SelfPlan) -> String {
  switch plan {
  case .none: "none"
  case .object(let place): "object:" + text(place)
  case .metatype(let place): "metatype:" + text(place)
  case .unknown: "?"
  }
}

for path in CommandLine.arguments.dropFirst() {
  guard dlopen(path, RTLD_NOW | RTLD_GLOBAL) != nil else { fatalError("cannot open '\(path)': \(String(cString: dlerror()))") }
}
let wanted = Set(CommandLine.arguments.dropFirst().map { String($0.split(separator: "/").last ?? "") })
private let planner = CallPlanner()
for image in ProcessCatalog.shared.current() where wanted.contains(String(image.path.split(separator: "/").last ?? "")) {
  for family in image.families(where: { _ in true }) {
    for body in family.bodies {
      let plan = planner.plan(body.declaration)
      let arguments = plan.arguments.map { ($0.isOwned ? "!" : "") + ($0.isInout ? "&" : "") + text($0.location) }
      let columns = [body.mangledName, plan.isExact ? "exact" : "bound", "\(plan.stack.bytes)", text(plan.selfPlan), text(plan.result.location)] + arguments
      print(columns.joined(separator: "\t"))
    }
  }
}
