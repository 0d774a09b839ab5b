#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#ifdef __linux__

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES 1024
#define MOST_PASSES 16
// How often an environment is read that is not there yet, and the pause between: 50 ms in all.
#define MOST_LOOKS 250
#define MOST_LOOKS_AT_LOADED 8
#define PAUSE_MICROSECONDS 200
// For how many milliseconds the end of a process is awaited, and that of one that only has to be run for it.
#define HOLD 50
#define LONGEST_HOLD 500

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
  // How many of them had their children added.
  int searched_count;
  // Whether the children of a process are not known.
  bool is_hidden;
};

// Whether a list has a process, or the leader of its group.
static bool has(const pid_t *list, int count, pid_t process, pid_t group) {
  for (int i = 0; i < count; i++) {
    if (list[i] == process || list[i] == group) return true;
  }
  return false;
}

static void add_group(struct tree *tree, pid_t group) {
  if (group <= 1 || group == tree->excluded || tree->count == tree->capacity) return;
  if (has(tree->groups, tree->count, group, group)) return;
  tree->groups[tree->count++] = group;
}

static void add_process(struct tree *tree, pid_t process) {
  if (tree->process_count == PROCESSES || has(tree->processes, tree->process_count, process, process)) return;
  tree->processes[tree->process_count++] = process;
}

// Whether there is such a process, possibly of another user.
static bool exists(pid_t process) { return kill(process, 0) == 0 || errno == EPERM; }

typedef void visit_entry(void *context, int descriptor, const char *name);

// Calls `visit` with the descriptor of a directory, and each name in it.
// Returns false if there is no such directory, or it cannot be read.
static bool for_each_name(const char *path, visit_entry *visit, void *context) {
  _Alignas(8) char entries[2048];
  int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  long filled;
  while ((filled = syscall(SYS_getdents64, descriptor, entries, sizeof entries)) > 0) {
    for (long offset = 0; offset < filled;) {
      struct dirent64 *entry = (struct dirent64 *)(entries + offset);
      if (entry->d_name[0] != '.') visit(context, descriptor, entry->d_name);
      offset += entry->d_reclen;
    }
  }
  close(descriptor);
  return true;
}

// The same for a directory of a process in /proc.
static bool for_each_entry(pid_t process, const char *directory, visit_entry *visit, void *context) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)process, directory);
  return for_each_name(path, visit, context);
}

// Adds a child of a process in the tree.
static void add_child(struct tree *tree, pid_t child) {
  // A descendant with a session of its own is on its own, and so are its descendants.
  if (!tree->crosses_sessions && getsid(child) != tree->session) return;
  add_group(tree, getpgid(child));
  add_process(tree, child);
}

// Adds the children of one thread, from a file such as "43 44 ".
static void add_children(void *context, int tasks, const char *thread) {
  struct tree *tree = context;
  char name[64], text[4096];
  snprintf(name, sizeof name, "%s/children", thread);
  int file = openat(tasks, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    tree->is_hidden = tree->is_hidden || errno != ENOENT || faccessat(tasks, thread, F_OK, 0) == 0;
    return;
  }
  long child = 0;
  ssize_t length;
  // A number may be divided between two reads.
  while ((length = read(file, text, sizeof text)) > 0) {
    for (ssize_t i = 0; i < length; i++) {
      if (text[i] >= '0' && text[i] <= '9') {
        child = child * 10 + (text[i] - '0');
      } else if (child > 0) {
        add_child(tree, (pid_t)child);
        child = 0;
      }
    }
  }
  close(file);
}

// Adds the descendants of the processes that are in the tree.
static void add_descendants(struct tree *tree) {
  while (tree->searched_count < tree->process_count) {
    pid_t process = tree->processes[tree->searched_count++];
    if (!for_each_entry(process, "task", add_children, tree) && exists(process)) tree->is_hidden = true;
  }
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

// Reads what /proc says about a process after its name, which may hold any byte: ` S 1 42 …`; NULL if there is none.
static const char *read_fields(pid_t process, char *text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
  return read_text(AT_FDCWD, path, text, size) > 0 ? strrchr(text, ')') : NULL;
}

// The state of a process and its group, from these fields. Returns false if the last of its threads has ended.
static bool find_state(const char *fields, char *state, pid_t *group) {
  int number, threads;
  if (fields == NULL ||
      sscanf(fields, ") %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d", state, &number,
          &threads) != 3) {
    return false;
  }
  *group = number;
  return (*state != 'Z' && *state != 'X') || threads > 1;
}

static bool read_state(pid_t process, char *state, pid_t *group) {
  char text[1024];
  return find_state(read_fields(process, text, sizeof text), state, group);
}

enum loading { NOT_ALIVE, LOADING, LOADED };

// Whether a process is loading a program, so that it has no environment yet.
static enum loading loading(pid_t process) {
  char text[1024], state;
  pid_t group;
  unsigned long long environment_end;
  const char *field = read_fields(process, text, sizeof text);
  if (!find_state(field, &state, &group)) return NOT_ALIVE;
  // The end of the environment is field 51, and the state is field 3.
  for (int number = 2; number < 51 && field != NULL; number++) field = strchr(field + 1, ' ');
  bool is_loaded = field != NULL && sscanf(field, "%llu", &environment_end) == 1 && environment_end != 0;
  return is_loaded ? LOADED : LOADING;
}

enum mark { UNMARKED, MARKED, UNREADABLE };

// Searches the initial environment of a process for a variable that begins with `mark`, and sets `run` to the
// number at its end.
static enum mark find_mark_once(pid_t process, const char *mark, uint64_t *run) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/environ", (int)process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return UNMARKED;
  size_t length = strlen(mark), place = 0;
  bool is_equal = true, is_found = false, is_whole = false;
  uint64_t number = 0;
  ssize_t count;
  while (!is_found && (count = read(file, text, sizeof text)) > 0) {
    is_whole = text[count - 1] == '\0';
    for (ssize_t i = 0; i < count && !is_found; i++) {
      if (text[i] == '\0') {
        is_found = is_equal && place == length;
        place = 0;
        is_equal = true;
      } else if (is_equal && place == length) {
        number = text[i] == '-' ? 0 : number * 10 + (uint64_t)(text[i] - '0');
      } else {
        is_equal = is_equal && text[i] == mark[place++];
        number = 0;
      }
    }
  }
  close(file);
  if (is_found) *run = number;
  return is_found ? MARKED : is_whole ? UNMARKED : UNREADABLE;
}

// The same, after the program has been loaded. A process that has overwritten its environment has no mark, and
// looks as if it had loaded a program between the two looks at it, each time.
static bool find_mark(pid_t process, const char *mark, uint64_t *run) {
  for (int i = 0, loaded = 0; i < MOST_LOOKS && loaded < MOST_LOOKS_AT_LOADED; i++) {
    enum mark found = find_mark_once(process, mark, run);
    if (found != UNREADABLE) return found == MARKED;
    enum loading state = loading(process);
    if (state == NOT_ALIVE) return false;
    if (state == LOADED) loaded++;
    usleep(PAUSE_MICROSECONDS);
  }
  return false;
}

// Whether a child whose parent has ended is of the run, or of one of which nothing is known any more.
static bool is_orphan_of_run(pid_t child, const struct csystem_orphans *orphans) {
  uint64_t run;
  // A zombie has no mark, and no children.
  if (!find_mark(child, orphans->mark, &run)) return orphans->counts_unmarked && loading(child) != NOT_ALIVE;
  if (run == orphans->run) return true;
  for (int i = 0; i < orphans->known_count; i++) {
    if (orphans->known[i] == run) return false;
  }
  return run <= orphans->latest;
}

// Adds the orphans of a run, which are children of this process: those that are not in `own` yet, which they
// are added to.
static void add_orphans(struct tree *tree, struct tree *own, const struct csystem_orphans *orphans) {
  int known = own->process_count;
  for_each_entry(getpid(), "task", add_children, own);
  for (int i = known; i < own->process_count; i++) {
    pid_t child = own->processes[i], group = getpgid(child);
    if (!has(tree->groups, tree->count, group, group)) {
      if (group == tree->excluded || has(orphans->others, orphans->other_count, child, group)) continue;
      if (getsid(child) != tree->session || !is_orphan_of_run(child, orphans)) continue;
    }
    add_child(tree, child);
  }
}

int csystem_descendant_groups(
    pid_t session, pid_t excluded, pid_t *groups, int count, int capacity,
    const struct csystem_orphans *orphans) {
  struct tree tree = {false, session, excluded, groups, count, capacity};
  for (int i = 0; i < count; i++) add_process(&tree, groups[i]);
  add_descendants(&tree);
  // A process may start another one before its children are read, and end, which makes that an orphan. And the
  // kernel may leave out one child if another one ends meanwhile, so that the children are read twice at least.
  struct tree own = {.crosses_sessions = true};
  for (int i = 0; orphans != NULL && i < MOST_PASSES; i++) {
    int known = tree.process_count + own.process_count;
    add_orphans(&tree, &own, orphans);
    add_descendants(&tree);
    if (i > 0 && tree.process_count + own.process_count == known) break;
  }
  return tree.count;
}

struct marked {
  struct tree *tree;
  const char *mark;
};

static void add_if_marked(void *context, int processes, const char *name) {
  struct marked *marked = context;
  pid_t process = (pid_t)strtol(name, NULL, 10);
  uint64_t run;
  (void)processes;
  if (process <= 1 || getsid(process) != marked->tree->session) return;
  if (!find_mark(process, marked->mark, &run)) return;
  add_child(marked->tree, process);
}

int csystem_marked_groups(
    pid_t session, pid_t excluded, pid_t *groups, int count, int capacity, const char *mark) {
  struct tree tree = {false, session, excluded, groups, count, capacity};
  for (int i = 0; i < count; i++) add_process(&tree, groups[i]);
  struct marked marked = {&tree, mark};
  for_each_name("/proc", add_if_marked, &marked);
  add_descendants(&tree);
  return tree.count;
}

// Whether a process is alive and in the group.
static bool is_living_member(pid_t process, pid_t group) {
  char state;
  pid_t actual;
  return read_state(process, &state, &actual) && actual == group;
}

bool csystem_has_living_descendant(pid_t group) {
  struct tree tree = {.crosses_sessions = true};
  for_each_entry(getpid(), "task", add_children, &tree);
  for (int i = 0; i < tree.process_count; i++) {
    if (is_living_member(tree.processes[i], group)) return true;
    for_each_entry(tree.processes[i], "task", add_children, &tree);
  }
  return false;
}

struct members {
  pid_t group, *processes;
  int count, capacity;
};

static void add_living_member(void *context, int processes, const char *name) {
  (void)processes;
  struct members *members = context;
  pid_t process = (pid_t)strtol(name, NULL, 10);
  if (process <= 0 || members->count == members->capacity) return;
  if (is_living_member(process, members->group)) members->processes[members->count++] = process;
}

int csystem_living_members(pid_t group, pid_t *members, int capacity) {
  struct members found = {group, members, 0, capacity};
  return for_each_name("/proc", add_living_member, &found) ? found.count : -1;
}

// A number that says which task has which count: in sums of them, one task does not make up for another.
static uint64_t hash(pid_t task, unsigned long long count) {
  uint64_t identity = ((uint64_t)task << 40 ^ count) * 0x9e3779b97f4a7c15;
  return identity ^ identity >> 29;
}

// Adds what one thread tells: whether it runs, and how often it has stopped to run.
static void add_thread(void *context, int tasks, const char *thread) {
  struct csystem_process_activity *activity = context;
  char name[64], text[4096];
  const char *line;
  unsigned long long yielded, preempted;
  snprintf(name, sizeof name, "%s/status", thread);
  if (read_text(tasks, name, text, sizeof text) <= 0 || !(line = strstr(text, "\nState:\t"))) return;
  // Sleeping, or a zombie. Any other may be in the middle of a change.
  if (line[8] != 'S' && line[8] != 'Z' && line[8] != 'I') activity->is_running = true;
  if ((line = strstr(line, "\nvoluntary_ctxt_switches:")) &&
      sscanf(line, "\nvoluntary_ctxt_switches: %llu nonvoluntary_ctxt_switches: %llu", &yielded,
          &preempted) == 2) {
    activity->switches += hash((pid_t)strtol(thread, NULL, 10), yielded + preempted);
  } else {
    activity->is_running = true;
  }
}

// Adds the activity of one process. Returns false if the kernel does not tell it.
static bool add_activity(pid_t process, struct csystem_process_activity *activity) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d", (int)process);
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    // What a process has done that has ended meanwhile may not be counted for its parent.
    activity->is_running = true;
    // One that exists is hidden.
    return !exists(process);
  }
  // Before the counters: all that a thread has done until it sleeps is counted.
  for_each_entry(process, "task", add_thread, activity);
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
    } else {
      // What a zombie has written is counted by its parent when it reaps it.
      is_known = state == 'Z';
    }
    activity->processes += hash(process, start);
  }
  close(directory);
  if (!is_known) activity->is_running = true;
  return is_known || !exists(process);
}

int csystem_process_activity(
    const pid_t *leaders, int count, const pid_t *launched, int launched_count, bool adopts,
    struct csystem_process_activity *activity) {
  struct tree tree = {.crosses_sessions = true};
  memset(activity, 0, sizeof *activity);
  for (int i = 0; i < count; i++) add_process(&tree, leaders[i]);
  if (adopts) {
    struct tree own = {.crosses_sessions = true};
    for_each_entry(getpid(), "task", add_children, &own);
    for (int i = 0; i < own.process_count; i++) {
      pid_t child = own.processes[i];
      if (!has(launched, launched_count, child, getpgid(child))) add_process(&tree, child);
    }
  }
  add_descendants(&tree);
  if (tree.process_count == PROCESSES || tree.is_hidden) return -1;
  for (int i = 0; i < tree.process_count; i++) {
    if (!add_activity(tree.processes[i], activity)) return -1;
  }
  return 0;
}

int csystem_adopt_orphans(pid_t *children, int capacity) {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return -1;
  struct tree own = {.crosses_sessions = true};
  for_each_entry(getpid(), "task", add_children, &own);
  int count = own.process_count < capacity ? own.process_count : capacity;
  memcpy(children, own.processes, (size_t)count * sizeof *children);
  return count;
}

static bool runs_program(pid_t process, const char *names) {
  char path[64], name[32] = "\n";
  snprintf(path, sizeof path, "/proc/%d/comm", (int)process);
  return read_text(AT_FDCWD, path, name + 1, sizeof name - 1) > 1 && strstr(names, name);
}

pid_t csystem_process_of_program(pid_t leader, const char *names) {
  struct tree tree = {.session = getsid(leader)};
  add_process(&tree, leader);
  while (tree.searched_count < tree.process_count) {
    pid_t process = tree.processes[tree.searched_count++];
    if (runs_program(process, names)) return process;
    for_each_entry(process, "task", add_children, &tree);
  }
  return 0;
}

// Whether a process ends as soon as it runs in its own program, since it does nothing else about a signal.
static bool ends_by(pid_t process, int signal) {
  char path[64], text[4096];
  const char *lines[] = {"\nSigBlk:", "\nSigIgn:", "\nSigCgt:"};
  snprintf(path, sizeof path, "/proc/%d/status", (int)process);
  if (read_text(AT_FDCWD, path, text, sizeof text) <= 0) return false;
  for (int i = 0; i < 3; i++) {
    const char *line = strstr(text, lines[i]);
    if (!line || strtoull(line + strlen(lines[i]), NULL, 16) >> (signal - 1) & 1) return false;
  }
  return true;
}

static long long milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

// Waits until those of a tree have ended that run these programs, or the others. Returns whether all have: one that does
// something about the signal is awaited for a shorter time.
static bool await_end(struct tree *tree, bool run, const char *names, int signal) {
  for (long long began = milliseconds(), time = 0;; time = milliseconds() - began) {
    bool is_left = false, is_awaited = false;
    tree->searched_count = 0;
    add_descendants(tree);
    for (int i = 0; i < tree->process_count && !is_awaited; i++) {
      pid_t process = tree->processes[i], group;
      char state;
      if (!read_state(process, &state, &group) || runs_program(process, names) != run) continue;
      // The child of a suspended program, which waits for it to load another, may be suspended as well.
      if (state == 'T' && !run) continue;
      is_left = true;
      is_awaited = time < HOLD || (time < LONGEST_HOLD && (run || ends_by(process, signal)));
    }
    if (!is_awaited) return !is_left;
    usleep(PAUSE_MICROSECONDS);
  }
}

// One that has not stopped yet would end by the next signal.
static void await_stop(pid_t process, long long began) {
  char state;
  pid_t group;
  while (read_state(process, &state, &group) && state != 'T' && milliseconds() - began < HOLD) {
    usleep(PAUSE_MICROSECONDS);
  }
}

int csystem_signal_groups(const pid_t *groups, int count, int signal, const char *names) {
  struct tree all = {.session = getsid(0)}, builds = {.session = getsid(0)};
  for (int i = 0; names && i < count; i++) add_process(&all, groups[i]);
  add_descendants(&all);
  for (int i = 0; i < all.process_count; i++) {
    pid_t process = all.processes[i], group = getpgid(process);
    if (has(groups, count, group, group) && runs_program(process, names)) add_process(&builds, process);
  }
  int held = builds.process_count, accepting = 0;
  add_descendants(&builds);
  for (int i = 0; i < held; i++) kill(builds.processes[i], SIGSTOP);
  // Also who reads what they print: at their ends they say what they do, and would end by that without a reader.
  pid_t others[PROCESSES];
  int other_count = 0;
  for (int i = 0; held > 0 && i < all.process_count; i++) {
    pid_t process = all.processes[i], group = getpgid(process);
    bool is_build = has(builds.processes, builds.process_count, process, process);
    if (is_build || !has(groups, count, group, group) || kill(process, SIGSTOP) != 0) continue;
    others[other_count++] = process;
  }
  long long began = milliseconds();
  for (int i = 0; i < other_count; i++) await_stop(others[i], began);
  for (int i = 0; i < count; i++) accepting += kill(-groups[i], signal) == 0 || errno != EPERM;
  if (held == 0) return accepting;
  bool is_over = await_end(&builds, false, names, signal);
  for (int i = 0; i < held; i++) kill(builds.processes[i], SIGCONT);
  if (is_over) await_end(&builds, true, names, signal);
  for (int i = 0; i < count; i++) kill(-groups[i], SIGCONT);
  return accepting;
}

struct search {
  const struct csystem_file_status *files;
  int count;
  mode_t permission;
  enum csystem_open_mode *modes;
};

// How the file of a descriptor of /proc/PID/fd is written by it. What it appends ends where it has written last: a file
// that is longer or shorter was changed by another one since.
static enum csystem_open_mode open_mode(
    int descriptors, const char *name, bool is_read, const struct csystem_file_status *before) {
  enum csystem_open_mode mode = is_read ? CSYSTEM_UPDATED : CSYSTEM_WRITTEN;
  char path[64], text[256];
  snprintf(path, sizeof path, "../fdinfo/%s", name);
  if (read_text(descriptors, path, text, sizeof text) < 0) return mode;
  const char *flags = strstr(text, "flags:"), *place = strstr(text, "pos:");
  if (!flags || !place || !(strtol(flags + strlen("flags:"), NULL, 8) & O_APPEND)) return mode;
  struct csystem_file_status after;
  if (!S_ISREG(before->mode) || csystem_file_status(descriptors, name, 0, &after) != 0) {
    return CSYSTEM_WRITTEN;
  }
  uint64_t end = strtoull(place + strlen("pos:"), NULL, 10);
  return before->size <= end && end <= after.size ? CSYSTEM_WRITTEN : CSYSTEM_NOT_WRITABLE;
}

static void compare_open_file(void *context, int descriptors, const char *name) {
  struct search *search = context;
  struct csystem_file_status link, file;
  // The permissions of the link are those with which the file was opened.
  if (csystem_file_status(descriptors, name, AT_SYMLINK_NOFOLLOW, &link) != 0 ||
      !(link.mode & search->permission) || csystem_file_status(descriptors, name, 0, &file) != 0) {
    return;
  }
  for (int i = 0; i < search->count; i++) {
    const struct csystem_file_status *searched = &search->files[i];
    if (searched->inode != file.inode || searched->device != file.device) continue;
    enum csystem_open_mode mode = open_mode(descriptors, name, link.mode & S_IRUSR, searched);
    if (search->modes[i] < mode) search->modes[i] = mode;
  }
}

void csystem_files_open_for_writing(
    pid_t leader, const struct csystem_file_status *files, int count,
    enum csystem_open_mode *modes) {
  struct tree tree = {.crosses_sessions = true};
  add_process(&tree, leader);
  add_descendants(&tree);
  struct search search = {files, count, S_IWUSR, modes};
  for (int i = 0; i < tree.process_count; i++) {
    for_each_entry(tree.processes[i], "fd", compare_open_file, &search);
  }
}

#define PIPES 16

struct readers {
  pid_t *processes;
  int count, capacity;
  // The pipes that they read, and those that they write their output to.
  struct csystem_file_status pipes[PIPES];
  int pipe_count;
};

static void add_output_pipes(struct readers *readers, pid_t process) {
  char path[64];
  for (int number = STDOUT_FILENO; number <= STDERR_FILENO; number++) {
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)process, number);
    struct csystem_file_status *pipe = &readers->pipes[readers->pipe_count];
    if (readers->pipe_count == PIPES || csystem_file_status(AT_FDCWD, path, 0, pipe) != 0) continue;
    if (S_ISFIFO(pipe->mode)) readers->pipe_count++;
  }
}

static void add_reader(void *context, int processes, const char *name) {
  (void)processes;
  struct readers *readers = context;
  pid_t process = (pid_t)strtol(name, NULL, 10);
  if (process <= 0 || process == getpid() || readers->count == readers->capacity) return;
  if (has(readers->processes, readers->count, process, process)) return;
  enum csystem_open_mode modes[PIPES] = {CSYSTEM_NOT_WRITABLE};
  bool reads = false;
  struct search search = {readers->pipes, readers->pipe_count, S_IRUSR, modes};
  for_each_entry(process, "fd", compare_open_file, &search);
  for (int i = 0; i < PIPES; i++) reads = reads || modes[i];
  if (!reads) return;
  readers->processes[readers->count++] = process;
  add_output_pipes(readers, process);
}

int csystem_output_readers(pid_t *processes, int capacity) {
  struct readers readers = {.processes = processes, .capacity = capacity};
  add_output_pipes(&readers, getpid());
  int count;
  do {
    count = readers.count;
    if (readers.pipe_count > 0) for_each_name("/proc", add_reader, &readers);
  } while (readers.count > count);
  return readers.count;
}

#else

int csystem_descendant_groups(
    pid_t session, pid_t excluded, pid_t *groups, int count, int capacity,
    const struct csystem_orphans *orphans) {
  (void)session, (void)excluded, (void)groups, (void)capacity, (void)orphans;
  return count;
}

int csystem_marked_groups(
    pid_t session, pid_t excluded, pid_t *groups, int count, int capacity, const char *mark) {
  (void)session, (void)excluded, (void)groups, (void)capacity, (void)mark;
  return count;
}

int csystem_process_activity(
    const pid_t *leaders, int count, const pid_t *launched, int launched_count, bool adopts,
    struct csystem_process_activity *activity) {
  (void)leaders, (void)count, (void)launched, (void)launched_count, (void)adopts, (void)activity;
  return -1;
}

int csystem_adopt_orphans(pid_t *children, int capacity) {
  (void)children, (void)capacity;
  return -1;
}

pid_t csystem_process_of_program(pid_t leader, const char *names) {
  (void)leader, (void)names;
  return 0;
}

int csystem_signal_groups(const pid_t *groups, int count, int signal, const char *names) {
  (void)names;
  int accepting = 0;
  for (int i = 0; i < count; i++) accepting += kill(-groups[i], signal) == 0 || errno != EPERM;
  return accepting;
}

void csystem_files_open_for_writing(
    pid_t leader, const struct csystem_file_status *files, int count,
    enum csystem_open_mode *modes) {
  (void)leader, (void)files, (void)count, (void)modes;
}

int csystem_output_readers(pid_t *processes, int capacity) {
  (void)processes, (void)capacity;
  return 0;
}

#endif
