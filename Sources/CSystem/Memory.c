#define _GNU_SOURCE
#include "CSystem.h"

#ifdef __linux__
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#ifdef __GLIBC__
#include <malloc.h>
#endif

void csystem_share_free_memory(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
#endif
}

void csystem_return_free_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

#ifdef __linux__

// Read-only pages are unchanged, and are read from the file again when they are used.
static int return_pages(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size;
  (void)context;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[index];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_W)) continue;
    uintptr_t start = (uintptr_t)object->dlpi_addr + part->p_vaddr;
    uintptr_t end = (start + part->p_filesz) & ~(page - 1);
    start = (start + page - 1) & ~(page - 1);
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void csystem_return_program_pages(void) { dl_iterate_phdr(return_pages, NULL); }

#else

void csystem_return_program_pages(void) {}

#endif
