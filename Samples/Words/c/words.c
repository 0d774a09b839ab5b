#include "words.h"

#include <ctype.h>

int words_count(const char *text) {
  int count = 0;
  int inside = 0;
  for (; *text; text++) {
    int is_space = isspace((unsigned char)*text) != 0;
    if (!is_space && !inside) count++;
    inside = !is_space;
  }
  return count;
}
