// Opens another library while it is opened itself.
#include <dlfcn.h>

static void *inner;
__attribute__((constructor)) static void begin(void) { inner = dlopen("libinner.so", RTLD_LAZY); }
int outer_home(void) { return inner ? ((int (*)(void))dlsym(inner, "cases_home"))() : -1; }
