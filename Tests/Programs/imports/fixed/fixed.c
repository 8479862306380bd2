// Compiled for a fixed address: where the program takes the function's address, that is its own way to it, for everyone.
int counted(int number);
int other_direct(int number);
int other_by_pointer(int number);
static int (*volatile address)(int) = counted;
int fixed_run(void) { return counted(1) + address(2) + other_direct(3) + other_by_pointer(4); }
