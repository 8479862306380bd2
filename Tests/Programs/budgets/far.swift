// A program that uses Foundation, with all its names.
import Dispatch
import Foundation

@inline(never) public func work(_ n: Int) -> Int { n + 1 }
setbuf(stdout, nil)
print("far", work(Int(Date(timeIntervalSince1970: 7).timeIntervalSince1970)))
