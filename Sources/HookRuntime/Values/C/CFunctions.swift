// CFunctions — C functions whose prototypes are known here, and what is special about calling some.
//
// One line per function. A line that is indented is another symbol of the function above it: programs built with large
// files or fortified import `open64` or `__open_2` where others import `open`. Its arguments are found by their labels.

package enum CFunctions {
  /// The function that a symbol is a form of, with the prototype of that form.
  package struct Form: Sendable {
    /// The function as people name it.
    package let function: CPrototype
    /// The prototype by which this symbol is called; that of the function unless it is another form.
    package let form: CPrototype
  }

  /// Finds the function behind a symbol; nil where no prototype is known here.
  package static func form(_ symbol: String) -> Form? { forms[symbol] }

  /// The symbols of a function, the plain one first: `open`, `open64`, `__open_2`.
  package static func symbols(of function: String) -> [String] { symbolsByFunction[function] ?? [function] }

  private static let (forms, symbolsByFunction): ([String: Form], [String: [String]]) = {
    var forms: [String: Form] = [:]
    var symbols: [String: [String]] = [:]
    var function: CPrototype?
    for line in table.split(separator: "\n") {
      // The table is this file's own: the tests read every line of it.
      guard let prototype = try? CPrototype(String(line)) else { continue }
      if line.first != " " { function = prototype }
      guard let function else { continue }
      forms[prototype.name] = Form(function: function, form: prototype)
      symbols[function.name, default: []].append(prototype.name)
    }
    return (forms, symbols)
  }()

  static let table = """
    getaddrinfo(node: cstring, service: cstring, hints: pointer, result: pointer) -> int32
    freeaddrinfo(result: pointer)
    getnameinfo(address: pointer, length: uint32, host: pointer, hostLength: uint32, service: pointer, serviceLength: uint32, flags: int32) -> int32
    gethostbyname(name: cstring) -> pointer
    socket(domain: int32, type: int32, protocol: int32) -> int32
    socketpair(domain: int32, type: int32, protocol: int32, sockets: pointer) -> int32
    connect(socket: int32, address: pointer, length: uint32) -> int32
    bind(socket: int32, address: pointer, length: uint32) -> int32
    listen(socket: int32, backlog: int32) -> int32
    accept(socket: int32, address: pointer, length: pointer) -> int32
    accept4(socket: int32, address: pointer, length: pointer, flags: int32) -> int32
    shutdown(socket: int32, how: int32) -> int32
    getsockopt(socket: int32, level: int32, name: int32, value: pointer, length: pointer) -> int32
    setsockopt(socket: int32, level: int32, name: int32, value: pointer, length: uint32) -> int32
    getsockname(socket: int32, address: pointer, length: pointer) -> int32
    getpeername(socket: int32, address: pointer, length: pointer) -> int32
    send(socket: int32, buffer: pointer, length: size, flags: int32) -> ssize
    sendto(socket: int32, buffer: pointer, length: size, flags: int32, address: pointer, addressLength: uint32) -> ssize
    sendmsg(socket: int32, message: pointer, flags: int32) -> ssize
    sendmmsg(socket: int32, messages: pointer, count: uint32, flags: int32) -> int32
    recv(socket: int32, buffer: pointer, length: size, flags: int32) -> ssize
      __recv_chk(socket: int32, buffer: pointer, length: size, room: size, flags: int32) -> ssize
    recvfrom(socket: int32, buffer: pointer, length: size, flags: int32, address: pointer, addressLength: pointer) -> ssize
      __recvfrom_chk(socket: int32, buffer: pointer, length: size, room: size, flags: int32, address: pointer, addressLength: pointer) -> ssize
    recvmsg(socket: int32, message: pointer, flags: int32) -> ssize
    recvmmsg(socket: int32, messages: pointer, count: uint32, flags: int32, timeout: pointer) -> int32
    poll(descriptors: pointer, count: uint64, timeout: int32) -> int32
      __poll_chk(descriptors: pointer, count: uint64, timeout: int32, room: size) -> int32
    select(count: int32, readers: pointer, writers: pointer, errors: pointer, timeout: pointer) -> int32
    epoll_ctl(epoll: int32, operation: int32, descriptor: int32, event: pointer) -> int32
    epoll_wait(epoll: int32, events: pointer, most: int32, timeout: int32) -> int32
    open(path: cstring, flags: int32, ...) -> int32
      open64(path: cstring, flags: int32, ...) -> int32
      __open_2(path: cstring, flags: int32) -> int32
      __open64_2(path: cstring, flags: int32) -> int32
    openat(directory: int32, path: cstring, flags: int32, ...) -> int32
      openat64(directory: int32, path: cstring, flags: int32, ...) -> int32
      __openat_2(directory: int32, path: cstring, flags: int32) -> int32
      __openat64_2(directory: int32, path: cstring, flags: int32) -> int32
    creat(path: cstring, mode: uint32) -> int32
      creat64(path: cstring, mode: uint32) -> int32
    close(descriptor: int32) -> int32
    read(descriptor: int32, buffer: pointer, count: size) -> ssize
      __read_chk(descriptor: int32, buffer: pointer, count: size, room: size) -> ssize
    write(descriptor: int32, buffer: pointer, count: size) -> ssize
    pread(descriptor: int32, buffer: pointer, count: size, offset: off) -> ssize
      pread64(descriptor: int32, buffer: pointer, count: size, offset: off) -> ssize
      __pread_chk(descriptor: int32, buffer: pointer, count: size, offset: off, room: size) -> ssize
      __pread64_chk(descriptor: int32, buffer: pointer, count: size, offset: off, room: size) -> ssize
    pwrite(descriptor: int32, buffer: pointer, count: size, offset: off) -> ssize
      pwrite64(descriptor: int32, buffer: pointer, count: size, offset: off) -> ssize
    readv(descriptor: int32, parts: pointer, count: int32) -> ssize
    writev(descriptor: int32, parts: pointer, count: int32) -> ssize
    sendfile(to: int32, from: int32, offset: pointer, count: size) -> ssize
      sendfile64(to: int32, from: int32, offset: pointer, count: size) -> ssize
    lseek(descriptor: int32, offset: off, whence: int32) -> off
      lseek64(descriptor: int32, offset: off, whence: int32) -> off
    fsync(descriptor: int32) -> int32
    fdatasync(descriptor: int32) -> int32
    ftruncate(descriptor: int32, length: off) -> int32
      ftruncate64(descriptor: int32, length: off) -> int32
    dup(descriptor: int32) -> int32
    dup2(descriptor: int32, target: int32) -> int32
    pipe(descriptors: pointer) -> int32
    pipe2(descriptors: pointer, flags: int32) -> int32
    fcntl(descriptor: int32, command: int32, ...) -> int32
      fcntl64(descriptor: int32, command: int32, ...) -> int32
    ioctl(descriptor: int32, request: ulong, ...) -> int32
    stat(path: cstring, result: pointer) -> int32
      stat64(path: cstring, result: pointer) -> int32
    lstat(path: cstring, result: pointer) -> int32
      lstat64(path: cstring, result: pointer) -> int32
    fstat(descriptor: int32, result: pointer) -> int32
      fstat64(descriptor: int32, result: pointer) -> int32
    access(path: cstring, mode: int32) -> int32
    unlink(path: cstring) -> int32
    rename(from: cstring, to: cstring) -> int32
    mkdir(path: cstring, mode: uint32) -> int32
    rmdir(path: cstring) -> int32
    chdir(path: cstring) -> int32
    chmod(path: cstring, mode: uint32) -> int32
    readlink(path: cstring, buffer: pointer, size: size) -> ssize
      __readlink_chk(path: cstring, buffer: pointer, size: size, room: size) -> ssize
    realpath(path: cstring, buffer: pointer) -> cstring
      __realpath_chk(path: cstring, buffer: pointer, room: size) -> cstring
    opendir(path: cstring) -> pointer
    readdir(directory: pointer) -> pointer
      readdir64(directory: pointer) -> pointer
    closedir(directory: pointer) -> int32
    fopen(path: cstring, mode: cstring) -> pointer
      fopen64(path: cstring, mode: cstring) -> pointer
    fclose(stream: pointer) -> int32
    fread(buffer: pointer, size: size, count: size, stream: pointer) -> size
      __fread_chk(buffer: pointer, room: size, size: size, count: size, stream: pointer) -> size
    fwrite(buffer: pointer, size: size, count: size, stream: pointer) -> size
    fflush(stream: pointer) -> int32
    fputs(text: cstring, stream: pointer) -> int32
    puts(text: cstring) -> int32
    printf(format: cstring, ...) -> int32
      __printf_chk(flag: int32, format: cstring, ...) -> int32
    fprintf(stream: pointer, format: cstring, ...) -> int32
      __fprintf_chk(stream: pointer, flag: int32, format: cstring, ...) -> int32
    mmap(address: pointer, length: size, protection: int32, flags: int32, descriptor: int32, offset: off) -> pointer
      mmap64(address: pointer, length: size, protection: int32, flags: int32, descriptor: int32, offset: off) -> pointer
    munmap(address: pointer, length: size) -> int32
    mprotect(address: pointer, length: size, protection: int32) -> int32
    malloc(size: size) -> pointer
    calloc(count: size, size: size) -> pointer
    realloc(memory: pointer, size: size) -> pointer
    reallocarray(memory: pointer, count: size, size: size) -> pointer
    free(memory: pointer)
    posix_memalign(result: pointer, alignment: size, size: size) -> int32
    aligned_alloc(alignment: size, size: size) -> pointer
    memalign(alignment: size, size: size) -> pointer
    malloc_usable_size(memory: pointer) -> size
    pthread_create(thread: pointer, attributes: pointer, start: pointer, argument: pointer) -> int32
    pthread_join(thread: ulong, result: pointer) -> int32
    pthread_detach(thread: ulong) -> int32
    pthread_exit(result: pointer)
    pthread_mutex_lock(mutex: pointer) -> int32
    pthread_mutex_trylock(mutex: pointer) -> int32
    pthread_mutex_unlock(mutex: pointer) -> int32
    pthread_cond_wait(condition: pointer, mutex: pointer) -> int32
    pthread_cond_timedwait(condition: pointer, mutex: pointer, until: pointer) -> int32
    pthread_cond_signal(condition: pointer) -> int32
    pthread_cond_broadcast(condition: pointer) -> int32
    pthread_rwlock_rdlock(lock: pointer) -> int32
    pthread_rwlock_wrlock(lock: pointer) -> int32
    pthread_rwlock_unlock(lock: pointer) -> int32
    sem_wait(semaphore: pointer) -> int32
    sem_post(semaphore: pointer) -> int32
    sleep(seconds: uint32) -> uint32
    usleep(microseconds: uint32) -> int32
    nanosleep(request: pointer, remainder: pointer) -> int32
    clock_gettime(clock: int32, result: pointer) -> int32
    gettimeofday(result: pointer, zone: pointer) -> int32
    time(result: pointer) -> int64
    dlopen(path: cstring, mode: int32) -> pointer
    dlsym(handle: pointer, name: cstring) -> pointer
    dlclose(handle: pointer) -> int32
    getenv(name: cstring) -> cstring
    secure_getenv(name: cstring) -> cstring
    setenv(name: cstring, value: cstring, overwrite: int32) -> int32
    unsetenv(name: cstring) -> int32
    getpid() -> int32
    getrandom(buffer: pointer, length: size, flags: uint32) -> ssize
    fork() -> int32
    execve(path: cstring, arguments: pointer, environment: pointer) -> int32
    execv(path: cstring, arguments: pointer) -> int32
    execvp(file: cstring, arguments: pointer) -> int32
    posix_spawn(pid: pointer, path: cstring, actions: pointer, attributes: pointer, arguments: pointer, environment: pointer) -> int32
    posix_spawnp(pid: pointer, file: cstring, actions: pointer, attributes: pointer, arguments: pointer, environment: pointer) -> int32
    system(command: cstring) -> int32
    waitpid(pid: int32, status: pointer, options: int32) -> int32
    kill(pid: int32, signal: int32) -> int32
    raise(signal: int32) -> int32
    sigaction(signal: int32, action: pointer, old: pointer) -> int32
    exit(status: int32)
    _exit(status: int32)
    abort()
    sin(x: double) -> double
    cos(x: double) -> double
    sqrt(x: double) -> double
    pow(base: double, exponent: double) -> double
    SSL_connect(ssl: pointer) -> int32
    SSL_do_handshake(ssl: pointer) -> int32
    SSL_read(ssl: pointer, buffer: pointer, count: int32) -> int32
    SSL_write(ssl: pointer, buffer: pointer, count: int32) -> int32
    SSL_shutdown(ssl: pointer) -> int32
    curl_easy_perform(handle: pointer) -> int32
    curl_multi_perform(multi: pointer, running: pointer) -> int32
    curl_multi_socket_action(multi: pointer, socket: int32, events: int32, running: pointer) -> int32
    sqlite3_open(path: cstring, result: pointer) -> int32
    sqlite3_open_v2(path: cstring, result: pointer, flags: int32, vfs: cstring) -> int32
    sqlite3_prepare_v2(database: pointer, sql: cstring, length: int32, statement: pointer, tail: pointer) -> int32
    sqlite3_prepare_v3(database: pointer, sql: cstring, length: int32, flags: uint32, statement: pointer, tail: pointer) -> int32
    sqlite3_step(statement: pointer) -> int32
    sqlite3_exec(database: pointer, sql: cstring, callback: pointer, context: pointer, error: pointer) -> int32
    """
}
