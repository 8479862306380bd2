import Lib
struct Own: Named {}
@inline(never) func go(_ n: Int) { print(n, Plain().longName(3), Own().longName(4), (Own() as any Named).longName(2), (Plain() as any Named).name(3)) }
go(1)
go(3)
for (name, count) in counts.sorted(by: { $0.key < $1.key }) { print("COUNT", name, count) }
