import Foundation
/// Doc comment for it.
/// - Parameter x: yes
/// - Returns: no
public func  foo( x:Int )->Int {
  // hello
  if x>3 { return x } else { return foo(x:x+1)+0xFFFF_1 }
}
class A { var a = 1; let b : [Int]=[1,2,3]
  func m() { for i in b { print( i ) }; switch a { case 1: break; default: fallthrough } } }
enum E { case a, b(Int) }
extension E : Swift.CustomStringConvertible { var description:String { get { "e" } } }
typealias F=( Int )->()
let image=#imageLiteral(resourceName:"x")
struct S { var x=1 }
