#include "words.h"

#include <stdio.h>

static int check(const char *text, int expected) {
  int count = words_count(text);
  if (count != expected) printf("'%s': %d words, not %d\n", text, count, expected);
  return count != expected;
}

int main(void) {
  int failures = check("", 0) + check("one", 1) + check("  two words ", 2);
  printf("%d failures\n", failures);
  return failures != 0;
}
