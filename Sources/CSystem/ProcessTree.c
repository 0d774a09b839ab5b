#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#ifdef __linux__

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES 1024

// Functions that the guardian calls: no allocation, no locks.

struct tree {
  pid_t session, excluded;
  pid_t *groups;
  int count, capacity;
  pid_t processes[PROCESSES];
  int process_count;
};

static void add_group(struct tree *tree, pid_t group) {
  if (group <= 1 || group == tree->excluded || tree->count == tree->capacity) return;
  for (int i = 0; i < tree->count; i++) {
    if (tree->groups[i] == group) return;
  }
  tree->groups[tree->count++] = group;
}

static void add_process(struct tree *tree, pid_t process) {
  if (tree->process_count == PROCESSES) return;
  for (int i = 0; i < tree->process_count; i++) {
    if (tree->processes[i] == process) return;
  }
  tree->processes[tree->process_count++] = process;
}

// Adds the children of one thread, from a file such as "43 44 ".
static void add_children(struct tree *tree, int tasks, const char *thread) {
  char name[64], text[8192];
  snprintf(name, sizeof name, "%s/children", thread);
  int file = openat(tasks, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length < 0 ? 0 : length] = '\0';
  char *next = text, *end;
  for (long child; (child = strtol(next, &end, 10)) > 0 && end != next; next = end) {
    // A descendant with a session of its own is on its own, and so are its descendants.
    if (tree->session && getsid((pid_t)child) != tree->session) continue;
    add_group(tree, getpgid((pid_t)child));
    add_process(tree, (pid_t)child);
  }
}

static void add_children_of_process(struct tree *tree, pid_t process) {
  char path[64];
  _Alignas(8) char entries[2048];
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  int tasks = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return;
  long filled;
  while ((filled = syscall(SYS_getdents64, tasks, entries, sizeof entries)) > 0) {
    for (long offset = 0; offset < filled;) {
      struct dirent64 *entry = (struct dirent64 *)(entries + offset);
      if (entry->d_name[0] != '.') add_children(tree, tasks, entry->d_name);
      offset += entry->d_reclen;
    }
  }
  close(tasks);
}

int csystem_descendant_groups(
    pid_t session, pid_t excluded, pid_t *groups, int count, int capacity) {
  struct tree tree = {
      .session = session, .excluded = excluded, .groups = groups, .count = count,
      .capacity = capacity};
  for (int i = 0; i < count; i++) add_process(&tree, groups[i]);
  for (int i = 0; i < tree.process_count; i++) add_children_of_process(&tree, tree.processes[i]);
  return tree.count;
}

// Reads a file of /proc, as text. Returns its length, or -1.
static ssize_t read_text(int directory, const char *name, char *text, size_t size) {
  int file = openat(directory, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t length = read(file, text, size - 1);
  close(file);
  if (length >= 0) text[length] = '\0';
  return length;
}

// Adds the activity of one process. Returns false if the kernel does not tell it.
static bool add_activity(
    pid_t process, uint64_t ticks_per_second, struct csystem_process_activity *activity) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d", (int)process);
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A process that has ended meanwhile is not one of them.
  if (directory < 0) return true;
  bool is_known = false;
  unsigned long long written, dirtied, faults, start;
  char state;
  const char *fields, *line;
  if (read_text(directory, "stat", text, sizeof text) > 0 && (fields = strrchr(text, ')')) &&
      sscanf(fields + 1,
          " %c %*d %*d %*d %*d %*d %*u %*u %llu %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %llu",
          &state, &faults, &start) == 3) {
    if (read_text(directory, "io", text, sizeof text) > 0 && (line = strstr(text, "wchar: ")) &&
        sscanf(line, "wchar: %llu", &written) == 1 && (line = strstr(line, "\nwrite_bytes: ")) &&
        sscanf(line, "\nwrite_bytes: %llu", &dirtied) == 1) {
      activity->written += written;
      activity->dirtied += dirtied;
      activity->child_faults += faults;
      is_known = true;
    } else if (state == 'Z') {
      // Its parent counts what it has written when it reaps it.
      activity->is_incomplete = true;
      is_known = true;
    }
    uint64_t identity = ((uint64_t)process << 40 ^ start) * 0x9e3779b97f4a7c15;
    activity->processes += identity ^ identity >> 29;
    int64_t started = (int64_t)(start * (1000000000 / ticks_per_second));
    if (started > activity->newest_start_ns) activity->newest_start_ns = started;
  }
  close(directory);
  return is_known;
}

int csystem_process_activity(pid_t leader, struct csystem_process_activity *activity) {
  struct tree tree = {.groups = NULL};
  memset(activity, 0, sizeof *activity);
  struct timespec boot, now;
  clock_gettime(CLOCK_BOOTTIME, &boot);
  clock_gettime(CLOCK_REALTIME, &now);
  add_process(&tree, leader);
  for (int i = 0; i < tree.process_count; i++) add_children_of_process(&tree, tree.processes[i]);
  if (tree.process_count == PROCESSES) return -1;
  for (int i = 0; i < tree.process_count; i++) {
    if (!add_activity(tree.processes[i], (uint64_t)sysconf(_SC_CLK_TCK), activity)) return -1;
  }
  activity->newest_start_ns += (now.tv_sec - boot.tv_sec) * 1000000000 + now.tv_nsec - boot.tv_nsec;
  return 0;
}

static void find_open_files(
    pid_t process, const struct csystem_file_status *files, int count, bool *found) {
  char path[64];
  _Alignas(8) char entries[2048];
  snprintf(path, sizeof path, "/proc/%d/fd", (int)process);
  int descriptors = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptors < 0) return;
  long filled;
  while ((filled = syscall(SYS_getdents64, descriptors, entries, sizeof entries)) > 0) {
    for (long offset = 0; offset < filled;) {
      struct dirent64 *entry = (struct dirent64 *)(entries + offset);
      offset += entry->d_reclen;
      struct csystem_file_status link, file;
      // The permissions of the link are those with which the file was opened.
      if (entry->d_name[0] == '.' ||
          csystem_file_status(descriptors, entry->d_name, AT_SYMLINK_NOFOLLOW, &link) != 0 ||
          !(link.mode & S_IWUSR) ||
          csystem_file_status(descriptors, entry->d_name, 0, &file) != 0) {
        continue;
      }
      for (int i = 0; i < count; i++) {
        found[i] = found[i] || (files[i].inode == file.inode && files[i].device == file.device);
      }
    }
  }
  close(descriptors);
}

void csystem_files_open_for_writing(
    pid_t leader, const struct csystem_file_status *files, int count, bool *found) {
  struct tree tree = {.groups = NULL};
  add_process(&tree, leader);
  for (int i = 0; i < tree.process_count; i++) add_children_of_process(&tree, tree.processes[i]);
  for (int i = 0; i < tree.process_count; i++) {
    find_open_files(tree.processes[i], files, count, found);
  }
}

#else

int csystem_descendant_groups(
    pid_t session, pid_t excluded, pid_t *groups, int count, int capacity) {
  (void)session, (void)excluded, (void)groups, (void)capacity;
  return count;
}

int csystem_process_activity(pid_t leader, struct csystem_process_activity *activity) {
  (void)leader, (void)activity;
  return -1;
}

void csystem_files_open_for_writing(
    pid_t leader, const struct csystem_file_status *files, int count, bool *found) {
  (void)leader, (void)files, (void)count, (void)found;
}

#endif

pid_t csystem_ended_child(void) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
  return info.si_pid;
}
