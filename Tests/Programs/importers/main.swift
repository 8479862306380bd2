import Lib

struct Own: Sized {}
var sum = 0
for x in 0..<CommandLine.arguments.count + 9 {
  sum &+= copied(x) &+ own(x)
  sum &+= Own().longer(x) &+ (Own() as any Sized).longer(x) &+ (Own() as any Sized).size(x)
  sum &+= Plain().longer(x) &+ (Plain() as any Sized).size(x)
}
tell()
print(sum)
