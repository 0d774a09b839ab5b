#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#define GROUPS 4096
#define LEADER_IS_REAPED (INT64_C(1) << 40)
#define CHECK_INTERVAL_MS 10
#define END_TIMEOUT_MS 1000
#define MOST_KILLS 10

// Memory that is shared by the watched process, its guardian, and each child until it executes its program. A
// store to it cannot fail, wakes no process, and is atomic. Only pages that are used exist.
struct csystem_guardian {
  int stop_signal;
  int grace_ms;
  int lifeline;  // closed when the watched process ends
  pid_t pid;
  pid_t session, own_group;  // of the watched process
  _Atomic int terminal_is_changed, terminal_is_lent, row_is_drawn;
  char terminal[64], row_terminal[64];
  struct termios modes, set;  // the modes to restore, and those that were set
  char mark[64];             // begins a variable in the environment of each process to stop
  _Atomic int highest;       // no group was ever registered beyond
  _Atomic int64_t groups[GROUPS];  // 0, or the group's ID, possibly with LEADER_IS_REAPED
};

// MARK: - Called by the watched process

void csystem_guardian_add(struct csystem_guardian *guardian, pid_t group) {
  // One without a place is found by its mark.
  for (int i = 0; i < GROUPS; i++) {
    int64_t none = 0;
    if (!atomic_compare_exchange_strong(&guardian->groups[i], &none, group)) continue;
    int highest = atomic_load(&guardian->highest);
    while (highest <= i && !atomic_compare_exchange_weak(&guardian->highest, &highest, i + 1)) {
    }
    return;
  }
}

static void replace(struct csystem_guardian *guardian, pid_t group, int64_t entry) {
  for (int i = 0; i < guardian->highest; i++) {
    int64_t found = atomic_load(&guardian->groups[i]);
    if (found != 0 && (found & ~LEADER_IS_REAPED) == group) {
      atomic_store(&guardian->groups[i], entry);
    }
  }
}

void csystem_guardian_leader_is_reaped(struct csystem_guardian *guardian, pid_t group) {
  replace(guardian, group, group | LEADER_IS_REAPED);
}

void csystem_guardian_forget(struct csystem_guardian *guardian, pid_t group) {
  replace(guardian, group, 0);
}

void csystem_guardian_keep_modes(
    struct csystem_guardian *guardian, int terminal, const struct termios *modes, const struct termios *set,
    bool is_lent) {
  if (ttyname_r(terminal, guardian->terminal, sizeof guardian->terminal) != 0) return;
  guardian->modes = *modes;
  guardian->set = *set;
  atomic_store(&guardian->terminal_is_lent, is_lent);
  atomic_store(&guardian->terminal_is_changed, 1);
}

void csystem_guardian_modes_are_restored(struct csystem_guardian *guardian) {
  atomic_store(&guardian->terminal_is_changed, 0);
}

void csystem_guardian_row_is_drawn(struct csystem_guardian *guardian, int terminal) {
  char *name = guardian->row_terminal;
  int is_drawn = terminal >= 0 && ttyname_r(terminal, name, sizeof guardian->row_terminal) == 0;
  atomic_store(&guardian->row_is_drawn, is_drawn);
}

void csystem_guardian_end(struct csystem_guardian *guardian) {
  close(guardian->lifeline);
#ifdef __linux__
  // Reaped here, since not every process with ID 1 reaps what it inherits.
  struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, guardian->pid, 0), .events = POLLIN};
  if (end.fd >= 0) {
    while (poll(&end, 1, END_TIMEOUT_MS) == -1 && errno == EINTR) {
    }
    close(end.fd);
  }
#endif
  // Where the kernel offers no descriptor, its end is awaited here.
  for (int waited = 0; waited < END_TIMEOUT_MS; waited += CHECK_INTERVAL_MS) {
    if (waitpid(guardian->pid, NULL, WNOHANG) != 0) return;
    poll(NULL, 0, CHECK_INTERVAL_MS);
  }
}

// MARK: - Called by the guardian
//
// Only functions that are safe between `fork` and `exec` in a process with threads, and no memory but the
// stack and the page.

// The ID of a registered group, or 0. After its leader was reaped, only the group's members keep the ID
// from being reused: a process with this ID belongs to a different group.
static pid_t group_at(struct csystem_guardian *guardian, int i) {
  int64_t entry = atomic_load(&guardian->groups[i]);
  pid_t group = (pid_t)(entry & ~LEADER_IS_REAPED);
  if (group <= 1) return 0;
  if ((entry & LEADER_IS_REAPED) && (kill(group, 0) == 0 || errno != ESRCH)) return 0;
  return group;
}

// Sends the signal to each group, or only checks it for 0. Removes groups that are gone, and returns the
// number of the others.
static int send_to_all(struct csystem_guardian *guardian, int number) {
  int count = 0;
  for (int i = 0; i < guardian->highest; i++) {
    pid_t group = group_at(guardian, i);
    if (group == 0) continue;
    if (kill(-group, number) == 0 || errno != ESRCH) {
      count++;
    } else {
      atomic_store(&guardian->groups[i], 0);
    }
  }
  return count;
}

// Registers the groups that descendants have made for themselves, as interactive shells do, and returns their
// number. One whose parent has ended is found by its mark.
static int add_descendants(struct csystem_guardian *guardian) {
  pid_t groups[2 * GROUPS];
  int count = 0;
  for (int i = 0; i < guardian->highest; i++) {
    pid_t group = group_at(guardian, i);
    if (group != 0) groups[count++] = group;
  }
  int all = csystem_marked_groups(
      guardian->session, guardian->own_group, groups, count, 2 * GROUPS, guardian->mark);
  for (int i = count; i < all; i++) csystem_guardian_add(guardian, groups[i]);
  return all - count;
}

// Asks all groups to end, those as well that are made meanwhile. Returns whether they have ended within the
// grace period.
static bool stop_groups(struct csystem_guardian *guardian) {
  for (int waited = 0;;) {
    add_descendants(guardian);
    // None is left once a whole search finds none: a process may start another one when it is asked to end.
    if (send_to_all(guardian, guardian->stop_signal) == 0) return true;
    send_to_all(guardian, SIGCONT);
    do {
      if (waited >= guardian->grace_ms) return false;
      poll(NULL, 0, CHECK_INTERVAL_MS);
      waited += CHECK_INTERVAL_MS;
    } while (send_to_all(guardian, 0) > 0);
  }
}

static void kill_groups(struct csystem_guardian *guardian) {
  // A process may make another group while its own is killed.
  for (int i = 0; i < MOST_KILLS; i++) {
    int found = add_descendants(guardian);
    send_to_all(guardian, SIGKILL);
    if (found == 0 && i > 0) return;
    poll(NULL, 0, CHECK_INTERVAL_MS);
  }
}

static int open_terminal(const char *name, _Atomic int *is_needed) {
  return atomic_load(is_needed) ? open(name, O_RDWR | O_NOCTTY | O_NONBLOCK) : -1;
}

// Whether the terminal has the modes that were set, and not those of a shell that has taken it.
static bool has_set_modes(struct csystem_guardian *guardian, int terminal) {
  const struct termios *set = &guardian->set;
  struct termios now;
  return tcgetattr(terminal, &now) == 0 && now.c_iflag == set->c_iflag && now.c_oflag == set->c_oflag &&
         now.c_cflag == set->c_cflag && ((now.c_lflag ^ set->c_lflag) & ~(tcflag_t)PENDIN) == 0 &&
         memcmp(now.c_cc, set->c_cc, sizeof now.c_cc) == 0;
}

static void restore_terminal(struct csystem_guardian *guardian) {
  int terminal = open_terminal(guardian->terminal, &guardian->terminal_is_changed);
  if (terminal >= 0) {
    bool restores = atomic_load(&guardian->terminal_is_lent) || has_set_modes(guardian, terminal);
    if (restores) tcsetattr(terminal, TCSANOW, &guardian->modes);
    close(terminal);
  }
  // What is below the cursor, and the title.
  static const char erase[] = "\033[J\033[23;2t";
  terminal = open_terminal(guardian->row_terminal, &guardian->row_is_drawn);
  if (terminal < 0) return;
  if (write(terminal, erase, sizeof erase - 1) < 0) {
    // The terminal is gone or accepts nothing.
  }
  close(terminal);
}

static void guard(struct csystem_guardian *guardian, int lifeline) {
  char byte;
  while (read(lifeline, &byte, 1) == -1 && errno == EINTR) {
  }
  restore_terminal(guardian);
  // Makes places for those of descendants.
  send_to_all(guardian, 0);
  if (!stop_groups(guardian)) kill_groups(guardian);
}

// Takes a different name, so that `pkill watchrun` leaves the guardian to do its work.
static void take_name(void) {
#ifdef __linux__
  static const char name[] = "wr-guard";
  prctl(PR_SET_NAME, name);
  strncpy(program_invocation_name, name, strlen(program_invocation_name));
#endif
}

static void close_all_but(int kept) {
  if (kept > 0) csystem_close_range(0, kept - 1);
  csystem_close_range(kept + 1, INT32_MAX);
}

static struct csystem_guardian *abandon(struct csystem_guardian *guardian) {
  int error = errno;
  munmap(guardian, sizeof *guardian);
  errno = error;
  return NULL;
}

struct csystem_guardian *csystem_guardian_start(int stop_signal, int grace_ms, const char *mark) {
  struct csystem_guardian *guardian =
      mmap(NULL, sizeof *guardian, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (guardian == MAP_FAILED) return NULL;
  guardian->stop_signal = stop_signal;
  guardian->grace_ms = grace_ms;
  guardian->session = getsid(0);
  guardian->own_group = getpgrp();
  strncpy(guardian->mark, mark, sizeof guardian->mark - 1);
  // A process that inherits the write end would hide the end of the watched process from the guardian. On
  // Linux no process inherits it, not even one that another thread starts at the same time.
  int ends[2];
  if (csystem_pipe(ends) != 0) return abandon(guardian);
  fcntl(ends[0], F_SETFL, 0);
  sigset_t all, before;
  sigfillset(&all);
  // A signal that ends the watched process, such as Ctrl-C, must not end the guardian.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t pid = fork();
  if (pid == 0) {
    setsid();
    close_all_but(ends[0]);
    if (chdir("/") != 0) _exit(1);
    take_name();
    guard(guardian, ends[0]);
    _exit(0);
  }
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[0]);
  guardian->lifeline = ends[1];
  guardian->pid = pid;
  if (pid > 0) return guardian;
  close(ends[1]);
  errno = error;
  return abandon(guardian);
}
