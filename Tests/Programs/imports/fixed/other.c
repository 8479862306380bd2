// Calls by its own import table, and by the function's address as the loader bound it.
int counted(int number);
int (*pointer)(int) = counted;
int other_direct(int number) { return counted(number); }
int other_by_pointer(int number) { return pointer(number); }
