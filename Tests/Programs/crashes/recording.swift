// Four threads whose calls are recorded; the number of each call that came back is told in a mapped file.
import Glibc

@inline(never) public func sell(_ thread: Int, _ number: Int) -> Int { thread &+ number &+ Int(getppid() & 0) }

let descriptor = open(CommandLine.arguments[1], O_RDWR)
nonisolated(unsafe) let told = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)!.assumingMemoryBound(to: Int.self)
nonisolated(unsafe) var sum = [0, 0, 0, 0]

var threads: [pthread_t] = []
for number in 0..<4 {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { context in
      let own = Int(bitPattern: context) - 1
      var number = 0
      while true {
        number += 1
        let sold = sell(own, number)
        told[own] = sold - own
        if number % 64 == 0 { usleep(UInt32(number % 200)) }
      }
    }, UnsafeMutableRawPointer(bitPattern: number + 1))
  threads.append(thread)
}
while true { pause() }
