// call-plans [--evidence|--self] LIBRARY… — opens libraries and prints where the plan of each body in them expects its values.
//
// One line per body, columns separated by tabs: mangled name, `exact` or `bound`, bytes of stack arguments, self, result, one column per argument,
// `hidden=` with the places of metadata and witness tables, `error=` with that of a typed error. A value is `i0:8@0+f1:4@8` (place, size, offset), `*i2` (its
// address), `-` (removed), `?` (unknown), `[0+8=…,8+8=…]` (by parts); `!` marks an owned one. With --evidence the bodies'
// machine code is asked as well, as it is for a hook: `!object` is used up by its method, of `~object` that is not known. A column before the arguments says whether the call can throw.
// With --self: of each method whose self holds references, whether it uses that up: name, how self is passed, `kept`, `consumed` or
// `unknown`, where the code first leaves it open, selector, kind of body. Tests/Programs/consuming/share.py counts them. With --code-alone what the toolchain's interfaces declare is not believed.
private import Glibc
private import HookRuntime
private import SwiftMangling

private func text(_ plan: SelfPlan) -> String {
  switch plan {
  case .none: "none"
  case .object(let place): "object:" + place.notation
  case .metatype(let place): "metatype:" + place.notation
  case .value(let plan): "value:" + (plan.access == .inPlace ? "&" : plan.access == .owned ? "!" : plan.access == .unknown ? "~" : "") + plan.location.notation
  case .unknown(let reason): "?" + reason
  }
}

private let asksCode = CommandLine.arguments.contains("--evidence")
private let arguments = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("--") }
for path in arguments {
  guard dlopen(path, RTLD_NOW | RTLD_GLOBAL) != nil else {
    // Programs among them: the loader takes libraries only.
    let message = "call-plans: cannot open '\(path)' as a library: \(String(cString: dlerror()))\n"
    write(STDERR_FILENO, message, message.utf8.count)
    exit(1)
  }
}
TypeResolver.shared.findDescriptor = { TypeCatalog.shared.descriptor($0.description) }
private let wanted = Set(arguments.map { String($0.split(separator: "/").last ?? "") })
private let planner = CallPlanner()
private let tellsSelf = CommandLine.arguments.contains("--self")
for image in ProcessCatalog.shared.current() where wanted.contains(String(image.path.split(separator: "/").last ?? "")) {
  if CommandLine.arguments.contains("--code-alone") { image.askCodeAlone() }
  for family in image.families(where: { _ in true }) {
    for body in family.bodies {
      if tellsSelf {
        let plan = image.planToCall(body, in: family)
        guard let report = image.selfReport(of: body, by: plan) else { continue }
        print(body.mangledName, report.form, "\(report.use)", report.reason, family.selector, body.form.words, separator: "\t")
        continue
      }
      let plan = asksCode ? image.plan(of: body, in: family) : planner.plan(body.declaration)
      let selfPlan = asksCode ? image.selfPlan(of: body, by: plan) : plan.selfPlan
      let arguments = plan.arguments.map { ($0.isOwned ? "!" : "") + ($0.isInout ? "&" : "") + $0.location.notation }
      // Of an object: used up by the method, or not known.
      let use = !asksCode || plan.selfUse == .kept ? "" : plan.selfUse == .consumed ? "!" : "~"
      var columns = [body.mangledName, plan.isExact ? "exact" : "bound", "\(plan.stack.bytes)", use + text(selfPlan), plan.result.location.notation]
      if asksCode { columns.append(plan.thrown == .never ? "never" : "throws") }
      columns += arguments
      if let thrown = plan.thrownValue { columns.append("error=" + thrown.location.notation) }
      if !plan.hiddenArguments.isEmpty {
        columns.append("hidden=" + plan.hiddenArguments.map { $0.location.notation }.joined(separator: " "))
      }
      print(columns.joined(separator: "\t"))
    }
  }
}
