#include "CHookTrampoline.h"
