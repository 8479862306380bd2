// A function that returns what it was given.
int counted(int number) { return number; }
