// Typed errors of every shape beside results of every shape.
public enum E1: Error { case a, b }
public enum E2: Error { case a(Int), b(Double) }
public struct E3: Error { var x: Double; var y: Int }
public struct E4: Error { var a, b, c, d, e: Int }
public struct E5: Error { var f: Float }
public class EC: Error, @unchecked Sendable {}
public struct E6: Error { var s: String; var i: Int32 }
func t1(_ a: Int) throws(E1) -> Int { a }
func t2(_ a: Int) throws(E2) -> Double { 1 }
func t3(_ a: Int) throws(E3) -> (Int, Double) { (1, 1) }
func t4(_ a: Int) throws(E4) -> Int { 1 }
func t5(_ a: Int) throws(E5) -> Float { 1 }
func t6(_ a: Int) throws(EC) -> String { "" }
func t7(_ a: Int) throws(E6) -> String { "" }
func t8(_ a: Int) throws(E1) -> Any { 1 }
func t9(_ a: Int) throws(E1) {}
func t10(_ a: Int) throws(any Error) -> Int { 1 }
func t11(_ a: Int) throws(Never) -> Int { 1 }
func t12<T>(_ a: T) throws(E3) -> T { a }
func t13(_ a: Int) throws(E5) -> Int8 { 1 }
func t14(_ a: Int) throws(E3) -> (Double, Double, Int, Int) { (1,1,1,1) }
func t15(_ a: Int) throws(E6) -> (Float, Int8) { (1, 1) }
func t16(_ a: Int) throws(E1) -> Bool { true }
func t17(_ a: Int) throws(E3) -> (Float, Double) { (1,1) }
func t18(_ a: Int) throws(E3) -> SIMD4<Float> { .init() }
struct S { func m(_ a: Int) throws(E3) -> Int { 1 }; mutating func m2(_ a: Int) throws(E4) -> Int { 1 } }
class C { func m(_ a: Int) throws(E4) -> Int { 1 }; init() throws(E3) {} }
func t19(_ a: Int) throws(E1) -> (Any, Int) { (1, 1) }
func t20(_ a: Int) throws(E3) -> Float80 { 1 }
func t21(_ a: Int) throws(E1) -> (Double, Double, Double, Double) { (1,1,1,1) }
