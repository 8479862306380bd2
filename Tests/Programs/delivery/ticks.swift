// ticks COUNT MILLISECONDS [PROGRESS]: eight threads call `tick` COUNT times in all, in about so long. Each thread counts its calls; how far
// each came is in the file PROGRESS, eight words, also when the process is killed.
// ticks full COUNT FILE: the first half while the file system of FILE is full, the second half when it is not any more.
import Glibc

let threads = 8
@inline(never) func tick(_ thread: Int, _ number: Int) -> Int { thread &* 7 &+ number }

struct Work {
  let thread: Int, first: Int, count: Int
  /// Rests of the thread, in microseconds each.
  let pauses: Int, pause: UInt32
  let progress: UnsafeMutablePointer<Int>?
}

func run(_ first: Int, _ count: Int, milliseconds: Int, _ progress: UnsafeMutablePointer<Int>?) {
  var handles = [pthread_t](repeating: 0, count: threads)
  for thread in 0..<threads {
    let work = UnsafeMutablePointer<Work>.allocate(capacity: 1)
    let pauses = milliseconds == 0 ? 0 : 500
    work.initialize(
      to: Work(
        thread: thread, first: first, count: count / threads, pauses: pauses, pause: UInt32(milliseconds * 1000 / max(pauses, 1)),
        progress: progress.map { $0 + thread }))
    pthread_create(&handles[thread], nil, { given in
      let work = given!.assumingMemoryBound(to: Work.self).pointee
      let every = work.pauses == 0 ? Int.max : max(1, work.count / work.pauses)
      var sum = 0
      for number in work.first..<work.first + work.count {
        sum &+= tick(work.thread, number)
        if let progress = work.progress { progress.pointee = number + 1 }
        if number % every == every - 1 { usleep(work.pause) }
      }
      return UnsafeMutableRawPointer(bitPattern: sum | 1)
    }, work)
  }
  for handle in handles { pthread_join(handle, nil) }
}

/// Words that outlive the process.
func mapped(_ path: String) -> UnsafeMutablePointer<Int>? {
  let file = open(path, O_RDWR | O_CREAT, 0o600)
  guard file >= 0, ftruncate(file, 4096) == 0, let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED
  else { return nil }
  return memory.bindMemory(to: Int.self, capacity: threads)
}

let words = CommandLine.arguments
if words[1] == "full" {
  let count = Int(words[2])!, filler = words[3]
  let file = open(filler, O_WRONLY | O_CREAT, 0o600)
  let page = [UInt8](repeating: 1, count: 4096)
  while write(file, page, page.count) > 0 {}
  close(file)
  run(0, count / 2, milliseconds: 0, nil)
  unlink(filler)
  // The journal tries again once a second.
  usleep(1_200_000)
  run(count / 2 / threads, count / 2, milliseconds: 0, nil)
  print("ticked \(count)")
} else {
  let count = Int(words[1])!
  run(0, count, milliseconds: Int(words[2])!, words.count > 3 ? mapped(words[3]) : nil)
  print("ticked \(count)")
}
