// A C library's function that calls an imported one of another.
#ifdef DEEP
__attribute__((noinline)) long deep(long n) { return n + 1; }
#else
long deep(long n);
__attribute__((noinline)) long through(long n) { return deep(n) * 10; }
#endif
