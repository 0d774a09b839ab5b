// What Swift cannot import from the C library: macros, variadic functions and GNU extensions,
// each as a small function with a fixed signature. Nothing here decides anything.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

/// What is known of one file: the part of `stat` and `statx` that the package uses.
struct csystem_file_status {
  uint64_t inode;
  uint64_t device;
  uint64_t size;
  int64_t modified_ns;  // since 1970
  int64_t changed_ns;   // since 1970
  int64_t born_ns;      // since 1970; 0 where the file system does not keep it
  uint32_t mode;
  uint32_t user;
  uint32_t group;
  uint32_t links;
};

/// `flags` as for `fstatat`. 0, or -1 with `errno`.
int csystem_file_status(
    int directory, const char *path, int flags, struct csystem_file_status *status);

/// The number by which the kernel knows the kind of file system at `path` (`f_type` of `statfs`);
/// -1 with `errno`. Linux only.
int64_t csystem_file_system_type(const char *path);

/// Entries of an open directory as the kernel writes them (`struct dirent64`). Linux only.
long csystem_directory_entries(int descriptor, void *buffer, size_t size);

/// A descriptor that becomes readable when the process ends. Linux only.
int csystem_pidfd_open(pid_t pid);

/// Waits as told by `options` (`WEXITED`, `WNOHANG`, `WNOWAIT` …) for one child. `code` is the
/// `CLD_…` constant, 0 if nothing has happened; `status` the exit status or the signal.
int csystem_wait(pid_t pid, int options, int *code, int *status);

int csystem_spawn_add_change_directory(posix_spawn_file_actions_t *actions, const char *path);
int csystem_spawn_add_close_from(posix_spawn_file_actions_t *actions, int lowest);

/// Gives memory that has been freed back to the system.
void csystem_return_free_memory(void);

/// The present time of the clock from which the kernel stamps files, in ns since 1970.
int64_t csystem_file_clock_ns(void);

#endif
