#include "CSystem.h"

#ifdef __GLIBC__

static int argument_count;
static char *const *argument_words;

// glibc calls constructors with the arguments of `main`. Those of /proc/self/cmdline are missing where
// /proc is not mounted.
__attribute__((constructor)) static void save_arguments(int count, char **words) {
  argument_count = count;
  argument_words = words;
}

char *const *csystem_arguments(int *count) {
  *count = argument_count;
  return argument_words;
}

#endif
