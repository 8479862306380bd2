// InstanceMaker — instances of classes made at run time, by the initialisers of the classes they inherit from.
//
// A designated initialiser has two forms: one that allocates (`fC`, which gets the class in r13) and one that is given the
// object (`fc`, which gets it in r13, and consumes it). All other registers agree. So a stub in the place of the first
// allocates, fills in the added properties, puts the object in r13 and jumps to the second.
//
// A convenience initialiser only allocates: it calls another one through the table of the class it was given.
private import CHookTrampoline
private import Glibc
internal import SwiftMangling

/// One initialiser of one runtime class.
package struct InstanceMaker: Sendable {
  /// Its receiver is the superclass; it is called on the new class, at `entry`.
  package let callable: Callable
  package let entry: UInt

  fileprivate init(callable: Callable, entry: UInt) {
    self.callable = callable
    self.entry = entry
  }

  // MARK: Code

  /// The form that is given the object, of the initialiser whose allocating form is at this address; nil where there is none.
  static func initializer(of allocating: UInt) -> UInt? {
    for image in ProcessCatalog.shared.current() {
      for symbol in image.symbols.symbols(at: UInt64(allocating) &- image.bias) where symbol.nameText.hasSuffix("fC") {
        let name = Array(symbol.name.dropLast(1)) + [UInt8(ascii: "c")]
        if let found = image.symbols.symbols(named: name).first { return UInt(found.address + image.bias) }
      }
    }
    return nil
  }

  /// Code that makes an instance of the class in r13 and goes on to `initializer`.
  static func allocator(at place: UnsafeRawPointer, allocating: UInt, initializer: UInt) throws(NewTypeError) -> UInt {
    let slot = try SynthesizedMethod.prepare(at: place, former: allocating, original: initializer)
    slot.site.pointee.handler = { frame, _ in
      guard let frame, let type = UnsafeRawPointer(bitPattern: UInt(frame.pointee.self_register)) else { return HKT_CONTINUE }
      frame.pointee.self_register = UInt64(UInt(bitPattern: InstanceMaker.allocate(Metadata(type))))
      return HKT_CONTINUE
    }
    hkt_enable(slot.site)
    return UInt(slot.ours)
  }

  private typealias Allocate = @convention(c) (UnsafeRawPointer, Int, Int) -> UnsafeMutableRawPointer
  // swift_allocObject(metadata, size, alignment mask): C convention, as compilers call it.
  private static let allocateObject = unsafeBitCast(dlsym(nil, "swift_allocObject"), to: Allocate.self)

  /// A new object whose added properties are made, and those of the program's classes are not.
  static func allocate(_ type: Metadata) -> UnsafeMutableRawPointer {
    let header = ClassHeader(type)
    let object = allocateObject(type.pointer, header.instanceSize, header.alignmentMask)
    for each in RuntimeClasses.chain(of: type) { each.initializeFields(of: object) }
    return object
  }
}

extension InstanceMaker {
  /// A new object of a class of the program, whose stored properties are given; the caller owns it.
  /// - Parameter values: one for each of `Metadata.storedFields`, in their order; they are moved into the object.
  /// - Returns: nil where the object holds more than its properties, or these cannot be known; the values are the caller's then.
  package static func object(of type: Metadata, _ values: [OwnedValue]) -> UnsafeMutableRawPointer? {
    guard isWhole(type), values.count == type.storedFields.count else { return nil }
    let header = ClassHeader(type)
    let object = allocateObject(type.pointer, header.instanceSize, header.alignmentMask)
    for (field, value) in zip(type.storedFields, values) {
      // `isWhole` found that each lies inside, as a value of its type.
      (object + field.offset).copyMemory(from: value.memory, byteCount: value.info.size)
      value.forget()
    }
    return object
  }

  /// Whether an object of the class is its stored properties and nothing else.
  package static func isWhole(_ type: Metadata) -> Bool {
    guard case .classType = type.kind else { return false }
    var end = 16
    for field in type.storedFields.sorted(by: { $0.offset < $1.offset }) {
      guard field.reference == .value, let info = try? field.type.get() else { return false }
      let start = (end + info.alignment - 1) / info.alignment * info.alignment
      guard field.offset == start else { return false }
      end = start + info.size
    }
    return type.instanceSize == end
  }
}

extension RuntimeClass {
  /// What makes instances by an initialiser of the superclass, or of one it inherits.
  /// - Parameter name: `init(title:)`.
  package func maker(_ name: String) throws(NewTypeError) -> InstanceMaker {
    try makers.maker(name) { () throws(NewTypeError) in try findMaker(name) }
  }

  private func findMaker(_ name: String) throws(NewTypeError) -> InstanceMaker {
    func refusal(_ reason: String) -> NewTypeError { .initialiser(name, of: self.name, reason: reason) }
    guard name.hasPrefix("init") else { throw refusal("it is no initialiser") }
    let member: ClassMember
    switch ClassMember.find(name, in: superclass) {
    case .success(let found): member = found
    case .failure(let problem): throw refusal(problem.description)
    }
    let code = UInt(member.body.address)
    let callable: Callable
    do throws(CallRefusal) {
      if member.declaration.functionType.isAsync { throw .isAsync }
      let plan = CallPlanner().plan(member.declaration)
      callable = try Callable(member.declaration, selector: "\(self.name).\(name)", plan: plan, selfPlan: plan.selfPlan, entry: code)
    } catch { throw refusal(error.description) }
    guard let initializer = InstanceMaker.initializer(of: code) else {
      // A convenience initialiser goes through the class's table, so that it can be called as it is. Of a class that nobody
      // else knows, the compiler may have left out the form, and made the other one allocate that very class.
      guard member.isVisible else { throw refusal("the compiler left no form of it that takes an object of another class") }
      return InstanceMaker(callable: callable, entry: code)
    }
    // Never freed, as the stub that names it.
    let place = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    return InstanceMaker(callable: callable, entry: try InstanceMaker.allocator(at: place, allocating: code, initializer: initializer))
  }

  /// Why what an initialiser made is no instance; nil when it is one.
  package func problem(ofMade object: UnsafeRawPointer) -> String? {
    let type = Metadata(object.load(as: UnsafeRawPointer.self))
    return type.isSubclass(of: metadata) ? nil : "it makes a '\(type.name)' whatever class it is called on"
  }
}

/// The makers of one class so far.
final class InstanceMakers: @unchecked Sendable {
  // `lock` guards what changes.
  private let lock = RecursiveLock()
  private var byName: [String: InstanceMaker] = [:]

  func maker(_ name: String, _ make: () throws(NewTypeError) -> InstanceMaker) throws(NewTypeError) -> InstanceMaker {
    try lock.withLock { () throws(NewTypeError) in
      if let known = byName[name] { return known }
      let made = try make()
      byName[name] = made
      return made
    }
  }
}
