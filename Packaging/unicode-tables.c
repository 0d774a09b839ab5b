// The names of Unicode scalars, their ages and scripts, and the classes by which words end are 580 KB of tables in
// the standard library. Nothing in watchrun asks for them, but the linker cannot know that. With --wrap, it calls
// these functions instead, and leaves the tables out.

#include <stddef.h>
#include <stdint.h>

// Returns the length of the name: there is none.
intptr_t __wrap__swift_stdlib_getScalarName(uint32_t scalar, uint8_t *buffer, intptr_t capacity) {
  (void)scalar, (void)buffer, (void)capacity;
  return 0;
}

// Returns the version of Unicode that has added the scalar: none has.
uint16_t __wrap__swift_stdlib_getAge(uint32_t scalar) {
  (void)scalar;
  return 0;
}

// Returns the script: it is unknown.
uint8_t __wrap__swift_stdlib_getScript(uint32_t scalar) {
  (void)scalar;
  return UINT8_MAX;
}

// Returns the scripts that use the scalar: none does.
const uint8_t *__wrap__swift_stdlib_getScriptExtensions(uint32_t scalar, uint8_t *count) {
  (void)scalar;
  *count = 0;
  return NULL;
}

// Returns the class for the ends of words: none in particular.
uint8_t __wrap__swift_stdlib_getWordBreakProperty(uint32_t scalar) {
  (void)scalar;
  return UINT8_MAX;
}
