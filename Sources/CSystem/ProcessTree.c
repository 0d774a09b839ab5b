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
#include <sys/syscall.h>
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
    if (getsid((pid_t)child) != tree->session) continue;
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

#else

int csystem_descendant_groups(
    pid_t session, pid_t excluded, pid_t *groups, int count, int capacity) {
  (void)session, (void)excluded, (void)groups, (void)capacity;
  return count;
}

#endif

pid_t csystem_ended_child(void) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
  return info.si_pid;
}
