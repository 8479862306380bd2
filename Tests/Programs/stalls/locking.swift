// A lock that is held for long, by name: `mutex`, `reader` and `writer` (pthread), `Mutex` (Swift's own). And calls that take their time.
import Glibc
import Synchronization

nonisolated(unsafe) var held = 0
let isHeld = Atomic(false)
// Something is done behind the wait, so that it is a call and no jump.
@inline(never) func holdTheTill(_ time: UInt32) {
  isHeld.store(true, ordering: .sequentiallyConsistent)
  usleep(time * 1000)
  held += 1
}
@inline(never) func price(_ item: Int) -> Int {
  usleep(item == 7 ? 600_000 : 200)
  return item * 2
}
enum Trouble: Error { case late }
@inline(never) func deliver(_ item: Int) throws -> Int {
  usleep(30_000)
  if item == 2 { throw Trouble.late }
  return item
}

struct Plain: ~Copyable, @unchecked Sendable {
  // Used by its own functions only, which lock.
  let lock: UnsafeMutablePointer<pthread_mutex_t>
  init() {
    lock = .allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
  }
  @inline(never) func waitForTheTill() {
    pthread_mutex_lock(lock)
    pthread_mutex_unlock(lock)
  }
}
let plain = Plain()
let modern = Mutex(0)
@inline(never) func waitForTheBook() { modern.withLock { $0 += 1 } }

struct ReadWrite: ~Copyable, @unchecked Sendable {
  // Used by its own functions only, which lock.
  let lock: UnsafeMutablePointer<pthread_rwlock_t>
  init() {
    lock = .allocate(capacity: 1)
    pthread_rwlock_init(lock, nil)
  }
  @inline(never) func waitToRead() {
    pthread_rwlock_rdlock(lock)
    pthread_rwlock_unlock(lock)
  }
  @inline(never) func waitToWrite() {
    pthread_rwlock_wrlock(lock)
    pthread_rwlock_unlock(lock)
  }
}
let shelf = ReadWrite()
// Suspended while it waits, on whatever thread it goes on.
@inline(never) func bake(_ item: Int) async -> Int {
  try? await Task.sleep(nanoseconds: item == 3 ? 600_000_000 : 200_000)
  return item * 3
}
enum Burnt: Error { case black }
@inline(never) func roast(_ item: Int) async throws -> Int {
  try await Task.sleep(nanoseconds: item == 2 ? 600_000_000 : 200_000)
  if item == 2 { throw Burnt.black }
  return item
}

func thread(_ body: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) -> pthread_t {
  var made = pthread_t()
  pthread_create(&made, nil, body, nil)
  return made
}

switch CommandLine.arguments.dropFirst().first ?? "" {
case "mutex":
  let holder = thread { _ in
    pthread_mutex_lock(plain.lock)
    holdTheTill(1000)
    pthread_mutex_unlock(plain.lock)
    return nil
  }
  while !isHeld.load(ordering: .sequentiallyConsistent) { usleep(1000) }
  plain.waitForTheTill()
  pthread_join(holder, nil)
  for _ in 0..<1000 { plain.waitForTheTill() }
case "Mutex":
  let holder = thread { _ in
    modern.withLock { _ in holdTheTill(1000) }
    return nil
  }
  while !isHeld.load(ordering: .sequentiallyConsistent) { usleep(1000) }
  waitForTheBook()
  pthread_join(holder, nil)
  for _ in 0..<1000 { waitForTheBook() }
case "reader", "writer":
  let holder = thread { _ in
    pthread_rwlock_wrlock(shelf.lock)
    holdTheTill(1000)
    pthread_rwlock_unlock(shelf.lock)
    return nil
  }
  while !isHeld.load(ordering: .sequentiallyConsistent) { usleep(1000) }
  let reads = CommandLine.arguments[1] == "reader"
  if reads { shelf.waitToRead() } else { shelf.waitToWrite() }
  pthread_join(holder, nil)
  for _ in 0..<1000 { if reads { shelf.waitToRead() } else { shelf.waitToWrite() } }
case "async":
  var sum = 0
  for item in 0..<6 { sum += await bake(item) }
  // At the same time: each has a budget of its own.
  sum += await withTaskGroup(of: Int.self) { group in
    for item in 10..<30 { group.addTask { await bake(item) } }
    return await group.reduce(0, +)
  }
  for item in 1...3 { sum += (try? await roast(item)) ?? -1 }
  print(sum)
default:
  print((0..<10).map(price).reduce(0, +))
  for item in 1...3 { print((try? deliver(item)) ?? -1) }
}
// The watch looks a few times within a threshold.
usleep(300_000)
print("done")
