#!/usr/bin/env python3
"""Writes a Swift module with every kind of type in every position.

    generate.py FILE

Positions: argument, result, field of a struct, tuple element, Optional (nested too), array and dictionary element,
generic argument of structs, enums and classes, inout and consumed, variadic, closure parameter, enum payload (single and
multi payload), argument of a generic function.
"""
import sys
types = """
Int|UInt8|Int16|Bool|Float|Double|Float16|Float80|Int128|UInt128|String|Substring|Character|Void|Never?|StaticString
E0|E1C|E3|EPay|EMulti|EMultiObj|EMultiBits|EInd|EIndSome|ERaw|EObjs|EGenI|EGenS|EGenC|ENest|EBig
SEmpty|SOne|SPad|SPack|SFloat|SMix|SBig|SWeak|SUnowned|SUnmanaged|SUnownedRef|SNest|SFn|SMeta|SMetaC|SMetaGen<Int>|SExist|SAny|STup|SBool|SGen<Int8>|SGen<String>|SGen<C>|SGen<Int.Type>|SPriv|SOpt|SErr|SF16|SI128|SF80|SStatic
C|CGen<Int>|D|AnyObject|any P|any CP|any P & Q|any CP & P|C & P|Any|any Error|any Sendable|any P & Sendable|any Hashable|any Collection<Int>|any PA<Int, String>|any PAC<Int>
Int.Type|C.Type|D.Type|any P.Type|Any.Type|AnyObject.Type|(any P).Type|any CP.Type|any Error.Type|SOne.Type|Int.Type.Type
[Int]|[String: Int]|Set<String>|[C]|[SWeak]|ArraySlice<Int>|ContiguousArray<Int8>|Dictionary<String, Any>.Index|Set<Int>.Index|String.Index|Range<Int>|ClosedRange<Double>|Result<Int, any Error>|Result<String, E3>|Slice<[Int]>|LazyMapSequence<[Int], String>|ReversedCollection<[Int]>|Zip2Sequence<[Int], [Int]>|EnumeratedSequence<[Int]>|KeyValuePairs<Int, Int>|CollectionOfOne<Int>|Repeated<Int>|AnyHashable|AnySequence<Int>|Unicode.Scalar|Duration|ObjectIdentifier|Optional<Int>.Type
UnsafeRawPointer|UnsafePointer<Int>|UnsafeMutableBufferPointer<Int>|UnsafeRawBufferPointer|OpaquePointer|Unmanaged<C>|CVaListPointer|ManagedBuffer<Int, Int>
SIMD2<Float>|SIMD3<Float>|SIMD4<Float>|SIMD8<Float>|SIMD16<Float>|SIMD2<Double>|SIMD3<Double>|SIMD4<Double>|SIMD8<Double>|SIMD2<Int8>|SIMD3<Int8>|SIMD4<UInt8>|SIMD8<Int8>|SIMD16<Int8>|SIMD32<Int8>|SIMD64<Int8>|SIMD2<Int16>|SIMD4<Int16>|SIMD8<Int16>|SIMD2<Int32>|SIMD3<Int32>|SIMD4<Int32>|SIMD2<Int>|SIMD3<Int>|SIMD4<Int>|SIMD8<Int>|SIMD2<Float16>|SIMDMask<SIMD4<Int32>>|SSimd|SSimd2|SSimd3|SSimd8
(Int, Int8)|(Int8, Int8)|(x: Int, y: String)|(Float, Int8)|(Int, (Int8, Double))|(SWeak, Int)|(Any, Int)|(C, String)|(Int.Type, Int)|(C.Type, Int8)|((Int) -> Int, Bool)|(SIMD4<Float>, Int)
(Int) -> Int|() -> Void|@Sendable () -> Int|@convention(c) (Int) -> Int|(Int) throws -> String|(inout Int) -> Void|() async -> Int|(SGen<Int>) -> C?|@MainActor () -> Int|((Int) -> Int) -> Int
timespec|div_t|ldiv_t|sigval|in6_addr|pthread_mutex_t|stat|FILE|UnsafeMutablePointer<FILE>|sockaddr|fd_set|timeval|tm|winsize|sigset_t|rusage|cpu_set_t
InlineArray<3, Int8>|InlineArray<2, String>|InlineArray<9, Int>|InlineArray<4, Float>|InlineArray<1, Double>|InlineArray<0, Int>|SInline
Outer<Int>.Inner<String>|Outer<Int>.Plain|Ext.Nested
TaskPriority|ContinuousClock.Instant|CancellationError|AsyncStream<Int>|Task<Int, Never>|UnownedJob|Regex<Substring>|FloatingPointRoundingRule|KeyPath<SOne, Int>|Mirror|UnsafeContinuation<Int, Never>|CheckedContinuation<Int, Never>|AnyKeyPath|UnownedSerialExecutor
""".replace("\n","|").split("|")
types = [t for t in types if t]
nc = ["NC", "NCS", "NCE", "Atomic<Int>", "Mutex<Int>", "NCBig"]
pre = '''
import Glibc
import Synchronization
public protocol P {}
public protocol Q {}
public protocol CP: AnyObject {}
public protocol PA<A, B> { associatedtype A; associatedtype B }
public protocol PAC<A>: AnyObject { associatedtype A }
open class C: P { var n = 1; public init() {} }
public final class D: C {}
public class CGen<T> { var t: T; init(_ t: T) { self.t = t } }
enum E0 {}
enum E1C { case a }
enum E3 : Error { case a, b, c }
enum EPay { case a(Int), b, c }
enum EMulti { case a(Int), b(Double, Int8), c(String), d }
enum EMultiObj { case a(C), b(D), c }
enum EMultiBits { case a(Bool), b(Bool), c, d }
indirect enum EInd { case a(Int), b(EInd) }
enum EIndSome { case a(Int), x; indirect case b(EIndSome) }
enum ERaw: Int8 { case a = 3, b }
enum EObjs { case a(C), b([Int]), c(String), d }
enum EGen<T> { case a(T), b, c(Int) }
typealias EGenI = EGen<Int8>
typealias EGenS = EGen<String>
typealias EGenC = EGen<C>
enum ENest { case a(EPay), b(Int??), c }
enum EBig { case a(Int, Int, Int, Int, Int), b }
struct SEmpty {}
struct SOne { var a: Int }
struct SPad { var a: Int8; var b: Int16; var c: Int8 }
struct SPack { var a: UInt8; var b: UInt8; var c: UInt16; var d: UInt32; var e: Float; var f: Int8 }
struct SFloat { var a: Float; var b: Float; var c: Double }
struct SMix { var a: Double; var b: Int8; var c: Float; var d: Bool }
struct SBig { var a, b, c, d, e: Int }
struct SWeak { weak var a: C?; var b: Int }
struct SUnowned { unowned var a: C; var b: Int }
struct SUnownedRef { unowned var a: AnyObject; weak var c: C? }
struct SUnmanaged { unowned(unsafe) var a: C; var b: Int8 }
struct SNest { var a: SPad; var b: SPack; var c: SEmpty }
struct SFn { var f: (Int) -> Int; var g: (() -> Void)? }
struct SMeta { var t: Int.Type; var x: Int }
struct SMetaC { var t: C.Type; var x: Int8 }
struct SMetaGen<T> { var t: T.Type; var x: Int8 }
struct SExist { var p: any P }
struct SAny { var a: AnyObject; var b: (any CP)?; var e: any Error }
struct STup { var t: (Int8, Double); var u: (Int8, Int8) }
struct SBool { var a, b, c: Bool }
struct SGen<T> { var t: T; var n: Int8 }
private struct SPrivX { var a: Int; var b: Float }
struct SPriv { private var x: SPrivX; private var y: SPrivX? }
struct SOpt { var a: Int8?; var b: Double?; var c: C?; var d: Int?? }
struct SErr { var a: any Error; var b: Int32 }
struct SF16 { var a: Float16; var b: Float16; var c: Int8 }
struct SI128 { var a: Int8; var b: Int128 }
struct SF80 { var a: Float80; var b: Int8 }
struct SStatic { static var a = 1; let b: StaticString }
struct SSimd { var a: SIMD2<Float>; var b: Int8 }
struct SSimd2 { var a: SIMD3<Float>; var b: Float }
struct SSimd3 { var a: SIMD3<Int8>; var b: Int8 }
struct SSimd8 { var a: SIMD8<Float>; var b: Int8 }
struct SInline { var a: InlineArray<3, Int16>; var b: Int8 }
struct Outer<A> { struct Inner<B> { var b: B; var n: Int }; struct Plain { var n: Int32; var m: Float } }
enum Ext {}
extension Ext { struct Nested { var a: Int; var b: Bool? } }
struct NC: ~Copyable { var a: Int; deinit {} }
struct NCS: ~Copyable { var a: String; var b: Int8 }
enum NCE: ~Copyable { case a(Int), b }
struct NCBig: ~Copyable { var a, b, c, d, e: Int }
func opaque<T>() -> T { fatalError() }
func id<T>(_ t: T) -> T { t }
'''
out = [pre]
for i,t in enumerate(types):
    par = f"({t})" if "->" in t or t.startswith("any ") or "&" in t else t
    e = "@escaping " if "->" in t and "Bool)" not in t else ""
    out.append(f"struct H{i} {{ var a: Int8; var v: {t}; var z: Int8 }}")
    out.append(f"func a{i}(_ n: Int8, _ v: {e}{t}, _ z: Int, _ f: Double) {{}}")
    out.append(f"func r{i}() -> {t} {{ fatalError() }}")
    out.append(f"func b{i}(_ h: H{i}, _ z: Int) -> H{i} {{ fatalError() }}")
    out.append(f"func t{i}(_ t: ({par}, Int8), _ z: Int) -> (Int8, {par}) {{ fatalError() }}")
    out.append(f"func o{i}(_ t: {par}?, _ z: Int) -> {par}? {{ nil }}")
    out.append(f"func oo{i}(_ t: {par}??, _ z: Int) -> {par}?? {{ nil }}")
    out.append(f"func g{i}(_ t: [{par}], _ d: [Int: {par}], _ z: CGen<{par}>) -> [{par}] {{ [] }}")
    out.append(f"func s{i}(_ t: SGen<{par}>, _ e: EGen<{par}>, _ z: Int) -> SGen<{par}> {{ fatalError() }}")
    out.append(f"func i{i}(_ t: inout {par}, _ z: __owned {par}, _ q: Int) {{ }}")
    out.append(f"func h{i}(_ t: {par}..., z: Int) {{ }}")
    out.append(f"func c{i}(_ t: @escaping ({par}) -> {par}, _ z: Int) -> (({par}) -> Void)? {{ nil }}")
    out.append(f"enum X{i} {{ case a({t}), b, c }}; enum Y{i} {{ case a({t}), b(Int8), c }}")
    out.append(f"func x{i}(_ t: X{i}, _ y: Y{i}, _ z: Int) -> X{i} {{ fatalError() }}; func y{i}() -> Y{i} {{ fatalError() }}")
    out.append(f"func ge{i}<T>(_ t: T, _ v: {e}{t}, _ z: SGen<T>) -> {t} {{ fatalError() }}")
for i,t in enumerate(nc):
    out.append(f"func na{i}(_ n: Int8, _ v: borrowing {t}, _ z: Int) {{}}")
    out.append(f"func nb{i}(_ n: Int8, _ v: consuming {t}, _ z: Int) {{ fatalError() }}")
    if "<" not in t: out.append(f"func nc{i}(_ n: Int8, _ v: inout {t}, _ z: Int) {{}}")
    out.append(f"func nr{i}() -> {t} {{ fatalError() }}")
    out.append(f"struct NH{i}: ~Copyable {{ var a: Int8; let v: {t}; var z: Int8 }}")
    out.append(f"func nh{i}(_ n: Int8, _ v: borrowing NH{i}, _ z: Int) {{}}")
    out.append(f"func no{i}(_ n: Int8, _ v: borrowing {t}?, _ z: Int) {{}}")
open(sys.argv[1], "w").write("\n".join(out) + "\n")
