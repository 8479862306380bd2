// Kit — what the generated programs share: where values come from, where they are written, the classes and protocols.
//
// Values are read from a stream (the first argument names it), so that no compiler knows them. What the program sees goes
// into a mapped file (the second argument), which outlives a crash. The text of a value never depends on how it was passed.
// `r_X` reads a value of type X, `w_X` writes it with a semicolon behind it.
import Glibc

// MARK: The stream

nonisolated(unsafe) public var live = 0
nonisolated(unsafe) private var stream = UnsafeRawPointer(bitPattern: 16)!
nonisolated(unsafe) private var cursor = UnsafeRawPointer(bitPattern: 16)!
nonisolated(unsafe) private var log = UnsafeMutablePointer<UInt8>(bitPattern: 16)!
nonisolated(unsafe) private var logged = 0
nonisolated(unsafe) private var logFile: Int32 = -1
private let logSize = 1 << 27

public func begin() {
  let input = open(CommandLine.arguments[1], O_RDONLY)
  stream = UnsafeRawPointer(mmap(nil, Int(lseek(input, 0, SEEK_END)), PROT_READ, MAP_PRIVATE, input, 0)!)
  logFile = open(CommandLine.arguments[2], O_RDWR | O_CREAT | O_TRUNC, 0o644)
  ftruncate(logFile, logSize)
  log = mmap(nil, logSize, PROT_READ | PROT_WRITE, MAP_SHARED, logFile, 0)!.assumingMemoryBound(to: UInt8.self)
}
/// Runs `work` on a thread that ends with it: what callers may have borrowed is let go when no frame of theirs is left.
public func onThread(_ work: @escaping () -> Void) {
  let box = Unmanaged.passRetained(Work(run: work))
  var thread = pthread_t()
  pthread_create(&thread, nil, { box in
    // `onThread` alone starts threads here, and passes one reference on.
    Unmanaged<Work>.fromOpaque(box!).takeRetainedValue().run()
    return nil
  }, box.toOpaque())
  pthread_join(thread, nil)
}
private final class Work {
  let run: () -> Void
  init(run: @escaping () -> Void) { self.run = run }
}
public func end() {
  put("live \(live)\n")
  ftruncate(logFile, logged)
}

private func put(_ text: String) {
  for byte in text.utf8 {
    log[logged] = byte
    logged += 1
  }
}
private func seek(_ entry: Int) { cursor = stream + Int(stream.loadUnaligned(fromByteOffset: 4 * entry, as: UInt32.self)) }
private func r<T: BitwiseCopyable>(_ type: T.Type) -> T {
  defer { cursor += MemoryLayout<T>.size }
  return cursor.loadUnaligned(as: T.self)
}

nonisolated(unsafe) private var lastLive = 0
/// The caller of function `n` starts: the values of its arguments come next. Nothing of the last call is alive.
public func calling(_ n: Int) {
  if live != lastLive { put("# \(live) objects alive before f\(n)\n") }
  lastLive = live
  seek(2 * n)
}
/// As `calling`, within a call.
public func callingAgain(_ n: Int) { seek(2 * n) }
/// Function `n` was entered: the values it makes come next.
public func enter(_ n: Int) {
  seek(2 * n + 1)
  put("> f\(n) ")
}
public func back(_ n: Int) { put("< f\(n) ") }
public func threw(_ n: Int) { put("! f\(n) ") }
public func resumed(_ n: Int) { put("~ f\(n) ") }
public func nl() { put("\n") }
public func open(_ name: StaticString) { put("\(name){") }
public func close() { put("};") }
public func word(_ text: StaticString) { put("\(text);") }
public func flag() -> Bool { r(UInt8.self) != 0 }
public func tag() -> Int { Int(r(UInt16.self)) }

// MARK: Scalars

public func w_Int(_ x: Int) { put("\(x);") }
public func w_Int8(_ x: Int8) { put("\(x);") }
public func w_Int16(_ x: Int16) { put("\(x);") }
public func w_Int32(_ x: Int32) { put("\(x);") }
public func w_Int64(_ x: Int64) { put("\(x);") }
public func w_Int128(_ x: Int128) { put("\(x);") }
public func w_UInt(_ x: UInt) { put("\(x);") }
public func w_UInt8(_ x: UInt8) { put("\(x);") }
public func w_UInt16(_ x: UInt16) { put("\(x);") }
public func w_UInt32(_ x: UInt32) { put("\(x);") }
public func w_UInt64(_ x: UInt64) { put("\(x);") }
public func w_UInt128(_ x: UInt128) { put("\(x);") }
public func w_Bool(_ x: Bool) { put(x ? "true;" : "false;") }
public func w_Double(_ x: Double) { put(x.isNaN ? "nan;" : "d\(String(x.bitPattern, radix: 16));") }
public func w_Float(_ x: Float) { put(x.isNaN ? "nan;" : "f\(String(x.bitPattern, radix: 16));") }
public func w_Float16(_ x: Float16) { put("h\(Int(x));") }
public func w_Float80(_ x: Float80) { put("x\(Int(x));") }
public func w_Void(_ x: Void) { put("();") }
public func r_Int() -> Int { r(Int.self) }
public func r_Int8() -> Int8 { r(Int8.self) }
public func r_Int16() -> Int16 { r(Int16.self) }
public func r_Int32() -> Int32 { r(Int32.self) }
public func r_Int64() -> Int64 { r(Int64.self) }
public func r_Int128() -> Int128 { r(Int128.self) }
public func r_UInt() -> UInt { r(UInt.self) }
public func r_UInt8() -> UInt8 { r(UInt8.self) }
public func r_UInt16() -> UInt16 { r(UInt16.self) }
public func r_UInt32() -> UInt32 { r(UInt32.self) }
public func r_UInt64() -> UInt64 { r(UInt64.self) }
public func r_UInt128() -> UInt128 { r(UInt128.self) }
public func r_Bool() -> Bool { flag() }
public func r_Double() -> Double { Double(bitPattern: r(UInt64.self)) }
public func r_Float() -> Float { Float(bitPattern: r(UInt32.self)) }
public func r_Float16() -> Float16 { Float16(r(Int8.self)) }
public func r_Float80() -> Float80 { Float80(r(Int8.self)) }
public func r_Void() {}

private func lanes<S: SIMD>(_ x: S, _ number: (S.Scalar) -> Int) {
  put("v" + x.indices.map { "\(number(x[$0]))" }.joined(separator: ",") + ";")
}
private func lanes<S: SIMD>(_ number: (Int8) -> S.Scalar) -> S {
  var x = S()
  for i in x.indices { x[i] = number(r(Int8.self)) }
  return x
}
public func w_SIMD2i(_ x: SIMD2<Int>) { lanes(x) { $0 } }
public func w_SIMD2f(_ x: SIMD2<Float>) { lanes(x) { Int($0) } }
public func w_SIMD3f(_ x: SIMD3<Float>) { lanes(x) { Int($0) } }
public func w_SIMD4f(_ x: SIMD4<Float>) { lanes(x) { Int($0) } }
public func w_SIMD4d(_ x: SIMD4<Double>) { lanes(x) { Int($0) } }
public func w_SIMD8h(_ x: SIMD8<Int16>) { lanes(x) { Int($0) } }
public func w_SIMD16b(_ x: SIMD16<UInt8>) { lanes(x) { Int($0) } }
public func w_SIMD8d(_ x: SIMD8<Double>) { lanes(x) { Int($0) } }
public func r_SIMD2i() -> SIMD2<Int> { lanes { Int($0) } }
public func r_SIMD2f() -> SIMD2<Float> { lanes { Float($0) } }
public func r_SIMD3f() -> SIMD3<Float> { lanes { Float($0) } }
public func r_SIMD4f() -> SIMD4<Float> { lanes { Float($0) } }
public func r_SIMD4d() -> SIMD4<Double> { lanes { Double($0) } }
public func r_SIMD8h() -> SIMD8<Int16> { lanes { Int16($0) } }
public func r_SIMD16b() -> SIMD16<UInt8> { lanes { UInt8(bitPattern: $0) } }
public func r_SIMD8d() -> SIMD8<Double> { lanes { Double($0) } }

// Pointers into a field of numbers that is never touched: only the distance is shown.
private let field = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 16)
private func w(_ x: UnsafeRawPointer?) { put(x.map { "p\($0 - UnsafeRawPointer(field));" } ?? "nil;") }
public func w_Raw(_ x: UnsafeRawPointer) { w(x) }
public func w_MutableRaw(_ x: UnsafeMutableRawPointer) { w(x) }
public func w_Pointer(_ x: UnsafePointer<Int>) { w(x) }
public func w_MutablePointer(_ x: UnsafeMutablePointer<Double>) { w(x) }
public func w_OpaquePointer(_ x: OpaquePointer) { w(UnsafeRawPointer(x)) }
public func r_Raw() -> UnsafeRawPointer { UnsafeRawPointer(field + Int(r(UInt16.self))) }
public func r_MutableRaw() -> UnsafeMutableRawPointer { field + Int(r(UInt16.self)) }
public func r_Pointer() -> UnsafePointer<Int> { UnsafePointer((field + Int(r(UInt16.self))).assumingMemoryBound(to: Int.self)) }
public func r_MutablePointer() -> UnsafeMutablePointer<Double> { (field + Int(r(UInt16.self))).assumingMemoryBound(to: Double.self) }
public func r_OpaquePointer() -> OpaquePointer { OpaquePointer(field + Int(r(UInt16.self))) }
public func w_Buffer(_ x: UnsafeBufferPointer<Int>) { w(x.baseAddress); put("+\(x.count);") }
public func w_RawBuffer(_ x: UnsafeRawBufferPointer) { w(x.baseAddress); put("+\(x.count);") }
public func w_MutableBuffer(_ x: UnsafeMutableBufferPointer<UInt8>) { w(x.baseAddress); put("+\(x.count);") }
public func r_Buffer() -> UnsafeBufferPointer<Int> { UnsafeBufferPointer(start: r_Pointer(), count: Int(r(UInt8.self))) }
public func r_RawBuffer() -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: r_Raw(), count: Int(r(UInt8.self))) }
public func r_MutableBuffer() -> UnsafeMutableBufferPointer<UInt8> {
  UnsafeMutableBufferPointer(start: r_MutableRaw().assumingMemoryBound(to: UInt8.self), count: Int(r(UInt8.self)))
}

// MARK: Text and collections

/// Text the compiler put in the program: no reference count.
private let literals = ["", "a", "fifteen bytes!!", "sixteen bytes!!!", "a literal that is longer than fifteen bytes", "é€𝄞", "nul\0nul"]
public func w_String(_ x: String) { put("s" + x.utf8.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined() + ";") }
public func r_String() -> String {
  let count = Int(r(UInt16.self))
  if count >= 0x8000 { return literals[count - 0x8000] }
  defer { cursor += count }
  return String(decoding: UnsafeRawBufferPointer(start: cursor, count: count), as: UTF8.self)
}
public func w_Substring(_ x: Substring) { w_String(String(x)) }
public func r_Substring() -> Substring { Substring(r_String()) }
public func w_Character(_ x: Character) { w_String(String(x)) }
public func r_Character() -> Character { Character(Unicode.Scalar(r(UInt8.self))) }
public func w_Scalar(_ x: Unicode.Scalar) { put("u\(x.value);") }
public func r_Scalar() -> Unicode.Scalar { Unicode.Scalar(r(UInt8.self)) }
public func w_StaticString(_ x: StaticString) { w_String("\(x)") }
public func r_StaticString() -> StaticString { r(UInt8.self) & 1 == 0 ? "static" : "more static text than fits" }
public func w_Ints(_ x: [Int]) { w_Array(x, w_Int) }
public func r_Ints() -> [Int] { r_Array(r_Int) }
public func w_Bytes(_ x: [UInt8]) { w_Array(x, w_UInt8) }
public func r_Bytes() -> [UInt8] { r_Array(r_UInt8) }
public func w_Strings(_ x: [String]) { w_Array(x, w_String) }
public func r_Strings() -> [String] { r_Array(r_String) }
public func w_Dictionary(_ x: [String: Int]) {
  put("[")
  for (key, value) in x.sorted(by: { $0.key < $1.key }) { w_String(key); w_Int(value) }
  put("];")
}
public func r_Dictionary() -> [String: Int] {
  var x: [String: Int] = [:]
  for _ in 0..<tag() { let key = r_String(); x[key] = r_Int() }
  return x
}
public func w_Set(_ x: Set<Int>) { w_Array(x.sorted(), w_Int) }
public func r_Set() -> Set<Int> { Set(r_Ints()) }
public func w_Range(_ x: Range<Int>) { put("\(x);") }
public func r_Range() -> Range<Int> { let low = Int(r(Int8.self)); return low..<(low + Int(r(UInt8.self))) }
public func w_Category(_ x: Unicode.GeneralCategory) { put("\(x);") }
public func r_Category() -> Unicode.GeneralCategory { flag() ? .mathSymbol : .uppercaseLetter }
public func w_Priority(_ x: TaskPriority) { put("priority\(x.rawValue);") }
public func r_Priority() -> TaskPriority { TaskPriority(rawValue: r(UInt8.self)) }
public func w_Duration(_ x: Duration) { put("t\(x.components.seconds);") }
public func r_Duration() -> Duration { .seconds(r(Int32.self)) }

public func w_Array<T>(_ x: [T], _ element: (T) -> Void) {
  put("[")
  for value in x { element(value) }
  put("];")
}
public func r_Array<T>(_ element: () -> T) -> [T] { (0..<tag()).map { _ in element() } }
public func w_Optional<T>(_ x: T?, _ payload: (T) -> Void) { if let x { payload(x) } else { put("nil;") } }
/// Of a nested Optional: `nil;` is the outer one's, `some{nil;};` the inner one's.
public func w_Nested<T>(_ x: T??, _ payload: (T) -> Void) {
  guard let x else { return put("nil;") }
  put("some{")
  w_Optional(x, payload)
  put("};")
}
public func r_Optional<T>(_ payload: () -> T) -> T? { flag() ? payload() : nil }
public func r_Nested<T>(_ payload: () -> T) -> T?? { flag() ? .some(r_Optional(payload)) : .none }

// MARK: Classes, protocols, errors

/// A type that generic code can read and write.
public protocol V {
  func w()
  static func r() -> Self
}
extension Int: V { public func w() { w_Int(self) }; public static func r() -> Int { r_Int() } }
extension Int8: V { public func w() { w_Int8(self) }; public static func r() -> Int8 { r_Int8() } }
extension Double: V { public func w() { w_Double(self) }; public static func r() -> Double { r_Double() } }
extension String: V { public func w() { w_String(self) }; public static func r() -> String { r_String() } }

public protocol P { func show() }
public protocol PC: AnyObject { func show() }
public protocol Q: AnyObject {}
open class C: P, PC, Q, V {
  public let id: Int
  public var text: String
  public init(number id: Int) {
    self.id = id
    text = "a text longer than fifteen bytes \(id)"
    live += 1
  }
  deinit { live -= 1 }
  public func show() { w_C(self) }
  public func w() { w_C(self) }
  // The classes of the stream are C and D; generic code asks for C alone.
  public static func r() -> Self { r_C() as! Self }
}
public final class D: C {}
public func w_C(_ x: C) { put("\(type(of: x))#\(x.id)\(x.text.hasSuffix(" \(x.id)") ? "" : "?");") }
public func r_C() -> C { flag() ? D(number: r(Int.self)) : C(number: r(Int.self)) }
public func w_D(_ x: D) { w_C(x) }
public func r_D() -> D { D(number: r(Int.self)) }
public func w_Object(_ x: AnyObject) { w_C(x as! C) }
public func r_Object() -> AnyObject { r_C() }
extension Int: P { public func show() { w_Int(self) } }
extension String: P { public func show() { w_String(self) } }
public struct Large: P, V {
  public var a: Int, b: String, c: C, d: Double, e: Int8, f: Int
  public func show() { w_Large(self) }
  public func w() { w_Large(self) }
  public static func r() -> Large { r_Large() }
}
public func w_Large(_ x: Large) { put("Large{"); w_Int(x.a); w_String(x.b); w_C(x.c); w_Double(x.d); w_Int8(x.e); w_Int(x.f); put("};") }
public func r_Large() -> Large { Large(a: r_Int(), b: r_String(), c: r_C(), d: r_Double(), e: r_Int8(), f: r_Int()) }
extension Large: Error {}
public func w_P(_ x: any P) { x.show() }
public func r_P() -> any P {
  switch tag() {
  case 0: r_Int()
  case 1: r_String()
  case 2: r_C()
  default: r_Large()
  }
}
public func w_Any(_ x: Any) { if let x = x as? any P { x.show() } else { w_Double(x as! Double) } }
public func r_Any() -> Any {
  switch tag() {
  case 0: r_Int()
  case 1: r_String()
  case 2: r_C()
  case 3: r_Large()
  default: r_Double()
  }
}
public func w_PC(_ x: any PC) { x.show() }
public func r_PC() -> any PC { r_C() }
public func w_PCQ(_ x: any PC & Q) { x.show() }
public func r_PCQ() -> any PC & Q { r_C() }
public func w_PV(_ x: any P & V) { x.show() }
public func r_PV() -> any P & V { flag() ? r_Large() : r_C() }
public func w_CQ(_ x: C & Q) { x.show() }
public func r_CQ() -> C & Q { r_C() }

public enum Tiny: Error { case one, two, three }
public func w_Tiny(_ x: Tiny) { put("Tiny.\(x);") }
public func r_Tiny() -> Tiny { [.one, .two, .three][tag()] }
public enum Failure: Error {
  case plain
  case text(String)
  case object(C)
}
public func w_Failure(_ x: Failure) {
  switch x {
  case .plain: put("Failure.plain;")
  case .text(let text): put("Failure.text{"); w_String(text); put("};")
  case .object(let object): put("Failure.object{"); w_C(object); put("};")
  }
}
public func r_Failure() -> Failure {
  switch tag() {
  case 0: .plain
  case 1: .text(r_String())
  default: .object(r_C())
  }
}
public struct Broken: Error {
  public var a: Int, b: String
}
public func w_Broken(_ x: Broken) { put("Broken{"); w_Int(x.a); w_String(x.b); put("};") }
public func r_Broken() -> Broken { Broken(a: r_Int(), b: r_String()) }
public func w_Error(_ x: any Error) {
  switch x {
  case let x as Tiny: w_Tiny(x)
  case let x as Failure: w_Failure(x)
  case let x as Broken: w_Broken(x)
  default: w_Large(x as! Large)
  }
}
public func r_Error() -> any Error {
  switch tag() {
  case 0: r_Tiny()
  case 1: r_Failure()
  case 2: r_Broken()
  default: r_Large()
  }
}

// MARK: Metatypes

public func w_IntType(_ x: Int.Type) { put("\(x);") }
public func r_IntType() -> Int.Type { Int.self }
public func w_OptionalIntType(_ x: Int.Type?) { put(x == nil ? "nil;" : "Int;") }
public func r_OptionalIntType() -> Int.Type? { flag() ? Int.self : nil }
public func w_CType(_ x: C.Type) { put("\(x);") }
public func r_CType() -> C.Type { flag() ? D.self : C.self }
public func w_PType(_ x: any P.Type) { put("\(x);") }
public func r_PType() -> any P.Type { [Int.self, C.self, String.self][tag()] }
public func w_AnyType(_ x: Any.Type) { put("\(x);") }
public func r_AnyType() -> Any.Type { [Int.self, Large.self, D.self][tag()] }

// MARK: Functions

public func w_Noescape(_ x: () -> Int) { w_Int(x()) }
public func r_Noescape() -> () -> Int { let n = r_Int(); return { n } }
public func w_Escaping(_ x: @escaping (Double, Int) -> Int) { w_Int(x(1.5, 5)) }
public func r_Escaping() -> (Double, Int) -> Int { let c = C(number: r_Int()); return { c.id &+ $1 &+ ($0 == 1.5 ? 0 : 1) } }
public func w_Throwing(_ x: @escaping (String) throws -> String) { w_String((try? x("in")) ?? "threw") }
public func r_Throwing() -> (String) throws -> String {
  let text = r_String()
  return { if $0 == "in" { return text } else { throw Tiny.one } }
}
// No large struct in these: the compiler itself crashes on getters of such functions.
public func w_Swallow(_ x: @escaping (Broken, C?) -> Broken) { w_Broken(x(Broken(a: 1, b: "b"), nil)) }
public func r_Swallow() -> (Broken, C?) -> Broken {
  let n = r_Int()
  return { broken, _ in Broken(a: broken.a &+ n, b: broken.b) }
}
public func w_OptionalFunction(_ x: ((Int) -> Int)?) { if let x { w_Int(x(3)) } else { put("nil;") } }
public func r_OptionalFunction() -> ((Int) -> Int)? { flag() ? { let c = C(number: r_Int()); return { c.id &+ $0 } }() : nil }
public func w_Functions(_ x: [(Int) -> Int]) { w_Array(x) { w_Int($0(3)) } }
public func r_Functions() -> [(Int) -> Int] { r_Array { let n = r_Int(); return { n &+ $0 } } }
public func w_BoxedFunction(_ x: Box<(Int, Double) -> Double>) { w_Double(x.value(3, 0.5)) }
public func r_BoxedFunction() -> Box<(Int, Double) -> Double> { let n = r_Double(); return Box(value: { n + Double($0) * $1 }) }
public func w_CFunction(_ x: @convention(c) (Int) -> Int) { w_Int(x(3)) }
public func r_CFunction() -> @convention(c) (Int) -> Int { flag() ? { $0 + 1 } : { $0 + 2 } }

// MARK: Generic types

public struct Box<T> {
  public var value: T
  public init(value: T) { self.value = value }
}
public struct Pair<A, B> {
  public var a: A, n: Int16, b: B
  public init(a: A, n: Int16, b: B) { self.a = a; self.n = n; self.b = b }
}
public enum Either<A, B> {
  case left(A)
  case right(B)
  case neither
}
extension Box: V where T: V {
  public func w() { put("Box{"); value.w(); put("};") }
  public static func r() -> Box { Box(value: T.r()) }
}
extension Pair: V where A: V, B: V {
  public func w() { put("Pair{"); a.w(); w_Int16(n); b.w(); put("};") }
  public static func r() -> Pair { Pair(a: A.r(), n: r_Int16(), b: B.r()) }
}
extension Either: V where A: V, B: V {
  public func w() {
    switch self {
    case .left(let x): put("Either.left{"); x.w(); put("};")
    case .right(let x): put("Either.right{"); x.w(); put("};")
    case .neither: put("Either.neither;")
    }
  }
  public static func r() -> Either {
    switch tag() {
    case 0: .left(A.r())
    case 1: .right(B.r())
    default: .neither
    }
  }
}
public func w_V<T: V>(_ x: T) { x.w() }
public func w_OptionalV<T: V>(_ x: T?) { w_Optional(x) { $0.w() } }
public func r_OptionalV<T: V>() -> T? { r_Optional(T.r) }
public func w_ArrayV<T: V>(_ x: [T]) { w_Array(x) { $0.w() } }
public func r_ArrayV<T: V>() -> [T] { r_Array(T.r) }
public func w_PairV<T: V>(_ x: (T, Int)) { put("{"); x.0.w(); w_Int(x.1); put("};") }
public func r_PairV<T: V>() -> (T, Int) { (T.r(), r_Int()) }
public func w_MetaV<T: V>(_ x: T.Type) { put("\(x);") }

// MARK: Values that cannot be copied

public struct Unique: ~Copyable {
  public var id: Int
  public var text: String
  init(_ id: Int) { self.id = id; text = "a text longer than fifteen bytes \(id)"; live += 1 }
  deinit { live -= 1 }
}
public func w_Unique(_ x: borrowing Unique) { put("Unique{"); w_Int(x.id); w_String(x.text); put("};") }
public func r_Unique() -> Unique { Unique(r_Int()) }
public struct UniqueLarge: ~Copyable {
  public var id: Int
  public var a: String, b: Double, c: C
  init(_ id: Int) { self.id = id; a = "a text longer than fifteen bytes \(id)"; b = 1.5; c = C(number: id); live += 1 }
  deinit { live -= 1 }
}
public func w_UniqueLarge(_ x: borrowing UniqueLarge) { put("UniqueLarge{"); w_Int(x.id); w_String(x.a); w_Double(x.b); w_C(x.c); put("};") }
public func r_UniqueLarge() -> UniqueLarge { UniqueLarge(r_Int()) }
public struct UniqueBox<T: V>: ~Copyable {
  public let id: Int
  public var value: T
  public init(id: Int, value: T) { self.id = id; self.value = value }
  public static func r() -> UniqueBox { let n = r_Int(); return UniqueBox(id: n, value: T.r()) }
}
public func w_UniqueBox<T>(_ x: borrowing UniqueBox<T>) { put("UniqueBox{"); w_Int(x.id); x.value.w(); put("};") }
