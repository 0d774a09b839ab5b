// The names of Unicode scalars are 550 KB of tables in the standard library. Nothing in watchrun asks for one, but
// the linker cannot know that. With --wrap, it calls this function instead, and leaves the tables out.

#include <stdint.h>

// Returns the length of the name: there is none.
intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity) {
  (void)scalar, (void)buffer, (void)capacity;
  return 0;
}
