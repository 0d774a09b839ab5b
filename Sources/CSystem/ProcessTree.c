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
  // Whether descendants with a session of their own count as well. Not said by a session of 0, which
  // is that of a process whose session was made outside its PID namespace.
  bool crosses_sessions;
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

// Calls `visit` with the descriptor of a directory of /proc, and each name in it.
static void for_each_entry(
    pid_t process, const char *directory, void (*visit)(void *context, int descriptor, const char *name),
    void *context) {
  char path[64];
  _Alignas(8) char entries[2048];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)process, directory);
  int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  long filled;
  while ((filled = syscall(SYS_getdents64, descriptor, entries, sizeof entries)) > 0) {
    for (long offset = 0; offset < filled;) {
      struct dirent64 *entry = (struct dirent64 *)(entries + offset);
      if (entry->d_name[0] != '.') visit(context, descriptor, entry->d_name);
      offset += entry->d_reclen;
    }
  }
  close(descriptor);
}

// Adds the children of one thread, from a file such as "43 44 ".
static void add_children(void *context, int tasks, const char *thread) {
  struct tree *tree = context;
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
    if (!tree->crosses_sessions && getsid((pid_t)child) != tree->session) continue;
    add_group(tree, getpgid((pid_t)child));
    add_process(tree, (pid_t)child);
  }
}

// Adds the descendants of the processes that are in the tree.
static void add_descendants(struct tree *tree) {
  for (int i = 0; i < tree->process_count; i++) {
    for_each_entry(tree->processes[i], "task", add_children, tree);
  }
}

int csystem_descendant_groups(
    pid_t session, pid_t excluded, pid_t *groups, int count, int capacity) {
  struct tree tree = {
      .session = session, .excluded = excluded, .groups = groups, .count = count,
      .capacity = capacity};
  for (int i = 0; i < count; i++) add_process(&tree, groups[i]);
  add_descendants(&tree);
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
  struct tree tree = {.crosses_sessions = true};
  memset(activity, 0, sizeof *activity);
  struct timespec boot, now;
  clock_gettime(CLOCK_BOOTTIME, &boot);
  clock_gettime(CLOCK_REALTIME, &now);
  add_process(&tree, leader);
  add_descendants(&tree);
  if (tree.process_count == PROCESSES) return -1;
  for (int i = 0; i < tree.process_count; i++) {
    if (!add_activity(tree.processes[i], (uint64_t)sysconf(_SC_CLK_TCK), activity)) return -1;
  }
  activity->newest_start_ns += (now.tv_sec - boot.tv_sec) * 1000000000 + now.tv_nsec - boot.tv_nsec;
  return 0;
}

struct search {
  const struct csystem_file_status *files;
  int count;
  bool *found;
};

static void compare_open_file(void *context, int descriptors, const char *name) {
  struct search *search = context;
  struct csystem_file_status link, file;
  // The permissions of the link are those with which the file was opened.
  if (csystem_file_status(descriptors, name, AT_SYMLINK_NOFOLLOW, &link) != 0 ||
      !(link.mode & S_IWUSR) || csystem_file_status(descriptors, name, 0, &file) != 0) {
    return;
  }
  for (int i = 0; i < search->count; i++) {
    const struct csystem_file_status *searched = &search->files[i];
    if (searched->inode == file.inode && searched->device == file.device) search->found[i] = true;
  }
}

void csystem_files_open_for_writing(
    pid_t leader, const struct csystem_file_status *files, int count, bool *found) {
  struct tree tree = {.crosses_sessions = true};
  add_process(&tree, leader);
  add_descendants(&tree);
  struct search search = {files, count, found};
  for (int i = 0; i < tree.process_count; i++) {
    for_each_entry(tree.processes[i], "fd", compare_open_file, &search);
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
