// Swift's handler of crashes and its fatal errors name functions of C++ with 50 KB of libstdc++. The program is stripped,
// so that they have none. With --wrap, the linker calls this function instead, and leaves the code out.

#include <stddef.h>

// Returns the name: it is not a mangled one.
char *__wrap___cxa_demangle(const char *name, char *buffer, size_t *length, int *status) {
  (void)name, (void)buffer, (void)length;
  if (status) *status = -2;
  return NULL;
}

// The same for names of types, which nothing asks for, and of key paths, of which there are none: 70 KB. These return a
// string of C++ without characters, which holds its own end.
struct string {
  char *start;
  size_t count;
  char own[16];
};

static void make_empty(struct string *string) {
  *string = (struct string){.start = string->own};
}

void __wrap__ZN5swift8Demangle9__runtime12nodeToStringB5cxx11EPNS1_4NodeERKNS1_15DemangleOptionsE(
    struct string *string, void *node, const void *options) {
  (void)node, (void)options;
  make_empty(string);
}

void __wrap__ZN5swift8Demangle9__runtime12nodeToStringEPNS1_4NodeERNS1_11NodePrinterE(void *node, void *printer) {
  (void)node, (void)printer;
}

void __wrap__ZN5swift8Demangle9__runtime19keyPathSourceStringB5cxx11EPKcm(
    struct string *string, const char *name, size_t length) {
  (void)name, (void)length;
  make_empty(string);
}
