// Swift's handler of crashes and its fatal errors name functions of C++ with 50 KB of libstdc++. The program is stripped,
// so that they have none. With --wrap, the linker calls this function instead, and leaves the code out.

#include <stddef.h>

// Returns the name: it is not a mangled one.
char *__wrap___cxa_demangle(const char *name, char *buffer, size_t *length, int *status) {
  (void)name, (void)buffer, (void)length;
  if (status) *status = -2;
  return NULL;
}
