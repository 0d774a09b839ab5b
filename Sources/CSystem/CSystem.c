#define _GNU_SOURCE
#include "CSystem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#endif

#define NS_PER_S INT64_C(1000000000)

#ifdef __linux__
#define BORN_NS(found) 0
#define DEVICE(found) (((uint64_t)major(found.st_dev) << 32) | minor(found.st_dev))
#else
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#define BORN_NS(found) nanoseconds_of(found.st_birthtimespec)
#define DEVICE(found) ((uint64_t)found.st_dev)
#endif

static int64_t nanoseconds_of(struct timespec time) { return time.tv_sec * NS_PER_S + time.tv_nsec; }

// Also for where `statx` is refused, as by container engines that do not know it.
static int file_status_by_stat(
    int directory, const char *path, int flags, struct csystem_file_status *status) {
  struct stat found;
  int result = path == NULL ? fstat(directory, &found) : fstatat(directory, path, &found, flags);
  if (result != 0) return -1;
  status->inode = found.st_ino;
  status->device = DEVICE(found);
  status->size = (uint64_t)found.st_size;
  status->modified_ns = nanoseconds_of(found.st_mtim);
  status->changed_ns = nanoseconds_of(found.st_ctim);
  status->born_ns = BORN_NS(found);
  status->mode = found.st_mode;
  status->user = found.st_uid;
  status->group = found.st_gid;
  status->links = (uint32_t)found.st_nlink;
  return 0;
}

#ifdef __linux__

static int64_t nanoseconds(struct statx_timestamp time) {
  return time.tv_sec * NS_PER_S + time.tv_nsec;
}

int csystem_file_status(
    int directory, const char *path, int flags, struct csystem_file_status *status) {
  struct statx found;
  // Attributes that are cached do not cause requests to the server of a network file system.
  unsigned int mask = STATX_BASIC_STATS | STATX_BTIME;
  int all = flags | AT_NO_AUTOMOUNT | (path == NULL ? AT_EMPTY_PATH : 0);
  if (statx(directory, path == NULL ? "" : path, all, mask, &found) != 0) {
    if (errno != EPERM && errno != ENOSYS) return -1;
    return file_status_by_stat(directory, path, flags, status);
  }
  status->inode = found.stx_ino;
  status->device = ((uint64_t)found.stx_dev_major << 32) | found.stx_dev_minor;
  status->size = found.stx_size;
  status->modified_ns = nanoseconds(found.stx_mtime);
  status->changed_ns = nanoseconds(found.stx_ctime);
  status->born_ns = (found.stx_mask & STATX_BTIME) ? nanoseconds(found.stx_btime) : 0;
  status->mode = found.stx_mode;
  status->user = found.stx_uid;
  status->group = found.stx_gid;
  status->links = found.stx_nlink;
  return 0;
}

int64_t csystem_file_system_type(const char *path) {
  struct statfs found;
  return statfs(path, &found) == 0 ? (int64_t)(uint32_t)found.f_type : -1;
}

long csystem_directory_entries(int descriptor, void *buffer, size_t size) {
  return syscall(SYS_getdents64, descriptor, buffer, size);
}

int csystem_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int csystem_pending_open(int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  return signalfd(-1, &only, SFD_CLOEXEC | SFD_NONBLOCK);
}

int csystem_timer_open(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

void csystem_timer_set(int timer, int64_t time_ns) {
  struct itimerspec time = {
      .it_value = {.tv_sec = time_ns / NS_PER_S, .tv_nsec = time_ns % NS_PER_S}};
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
}

bool csystem_timer_take(int timer) {
  uint64_t count;
  return read(timer, &count, sizeof count) == sizeof count;
}

// Creates an epoll instance for one descriptor.
static int epoll_of(int descriptor, uint32_t events) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = events};
  if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0) return epoll;
  int error = errno;
  close(epoll);
  errno = error;
  return -1;
}

int csystem_edges_open(int descriptor, int input) {
  return epoll_of(descriptor, (input ? EPOLLIN : 0) | EPOLLET);
}

int csystem_edges_set(int edges, int descriptor, int input, int activity) {
  // A terminal wakes those that wait to write whenever it is written to, read at its other side, or given other
  // modes.
  struct epoll_event event = {
      .events = (input ? EPOLLIN : 0) | (activity ? EPOLLOUT : 0) | EPOLLET};
  return epoll_ctl(edges, EPOLL_CTL_MOD, descriptor, &event);
}

int csystem_readability_open(int descriptor) { return epoll_of(descriptor, EPOLLIN); }

int csystem_readiness_open(int descriptor) { return epoll_of(descriptor, EPOLLIN | EPOLLONESHOT); }

int csystem_readiness_arm(int readiness, int descriptor) {
  struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT};
  return epoll_ctl(readiness, EPOLL_CTL_MOD, descriptor, &event);
}

void csystem_silence(int epoll) {
  struct epoll_event event;
  epoll_wait(epoll, &event, 1, 0);
}

#else

int csystem_file_status(
    int directory, const char *path, int flags, struct csystem_file_status *status) {
  return file_status_by_stat(directory, path, flags, status);
}

int csystem_pidfd_open(pid_t pid) {
  errno = ENOSYS;
  return -1;
}

#endif

int csystem_wait(pid_t pid, int options, int *code, int *status) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  int result = waitid(P_PID, (id_t)pid, &info, options);
  *code = info.si_pid == 0 ? 0 : info.si_code;
  *status = info.si_status;
  return result;
}

int csystem_spawn_add_change_directory(posix_spawn_file_actions_t *actions, const char *path) {
  return posix_spawn_file_actions_addchdir_np(actions, path);
}

int csystem_spawn_add_close_from(posix_spawn_file_actions_t *actions, int lowest) {
#ifdef __linux__
  return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
#else
  return 0;  // Darwin: POSIX_SPAWN_CLOEXEC_DEFAULT says the same.
#endif
}

#ifdef __linux__

// Closes the descriptors of a range that /proc lists. Returns false if it lists none. No allocation, no
// locks.
static int close_listed(int lowest, int highest) {
  int listing = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listing < 0) return 0;
  _Alignas(8) char entries[2048];
  long filled;
  while ((filled = csystem_directory_entries(listing, entries, sizeof entries)) > 0) {
    for (long offset = 0; offset < filled;) {
      struct dirent64 *entry = (struct dirent64 *)(entries + offset);
      int number = entry->d_name[0] == '.' ? -1 : (int)strtol(entry->d_name, NULL, 10);
      if (number >= lowest && number <= highest && number != listing) close(number);
      offset += entry->d_reclen;
    }
  }
  close(listing);
  return filled == 0;
}

#endif

void csystem_close_range(int lowest, int highest) {
#ifdef __linux__
  if (close_range((unsigned)lowest, (unsigned)highest, 0) == 0) return;
  // The limit may be a thousand million, each of which would take a call.
  if (close_listed(lowest, highest)) return;
#endif
  int limit = (int)sysconf(_SC_OPEN_MAX);
  for (int number = lowest; number <= highest && number < limit; number++) close(number);
}

pid_t csystem_ended_child(void) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
  return info.si_pid;
}
