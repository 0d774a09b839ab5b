#define _GNU_SOURCE
#include "CSystem.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// `posix_spawn`, with two additional steps in the child before it executes its program: it
// registers its group with the guardian, so that the group exists at no moment without being
// registered; and it makes itself the foreground group, so that it never reads the terminal from
// the background.

static void reset_signals(const sigset_t *defaults) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) {
    if (sigismember(defaults, number) == 1) sigaction(number, &action, NULL);
  }
}

static const char *variable(char *const *environment, const char *name) {
  size_t length = strlen(name);
  for (; *environment != NULL; environment++) {
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') {
      return *environment + length + 1;
    }
  }
  return NULL;
}

// The file to execute, searched for in the PATH that the program will have, as by shells and `env`, and with
// a single `execve`: at each failed attempt the child could be suspended. NULL with `errno` if there is none.
static const char *find(const struct csystem_spawn *spawn, char found[PATH_MAX]) {
  const char *program = spawn->program;
  if (*program == '\0' || strchr(program, '/') != NULL) return program;
  const char *directories = variable(spawn->environment, "PATH");
  // Without PATH, `execvpe` decides.
  if (directories == NULL) return program;
  int error = ENOENT;
  while (directories != NULL) {
    size_t length = strcspn(directories, ":"), name = strlen(program) + 1;
    size_t end = length == 0 ? 1 : length;
    if (end + 1 + name <= PATH_MAX) {
      memcpy(found, length == 0 ? "." : directories, end);
      found[end] = '/';
      memcpy(found + end + 1, program, name);
      struct stat status;
      if (stat(found, &status) == 0) {
        if (S_ISREG(status.st_mode) && access(found, X_OK) == 0) return found;
        error = EACCES;
      } else if (errno == EACCES) {
        error = EACCES;
      }
    }
    directories = directories[length] == ':' ? directories + length + 1 : NULL;
  }
  errno = error;
  return NULL;
}

// A child that is suspended before it executes its program suspends this process as well, which
// waits for it, and neither could resume the other. So the signal is postponed. Returns the signal,
// or 0.
static int put_off_stop(const sigset_t *defaults) {
  static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};
  struct sigaction ignore = {.sa_handler = SIG_IGN}, action = {.sa_handler = SIG_DFL};
  sigset_t pending;
  sigpending(&pending);
  int found = 0;
  for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
    if (sigismember(defaults, stops[i]) != 1) continue;
    if (sigismember(&pending, stops[i]) == 1) found = stops[i];
    // Ignoring a signal discards it if it is pending.
    sigaction(stops[i], &ignore, NULL);
    sigaction(stops[i], &action, NULL);
  }
  return found;
}

// Closes all descriptors but the standard and the inherited ones.
static void close_others(const struct csystem_spawn *spawn) {
  int lowest = spawn->listener < 0 ? STDERR_FILENO + 1 : CSYSTEM_FIRST_SOCKET + 1;
  for (int i = 0; i < spawn->inherited_count; i++) {
    int kept = spawn->inherited[i];
    if (kept > lowest) csystem_close_range(lowest, kept - 1);
    lowest = kept + 1;
  }
  csystem_close_range(lowest, INT32_MAX);
}

// Passes the socket to the program, in place of what else has the number.
static int pass_listener(int listener) {
  if (listener == CSYSTEM_FIRST_SOCKET) return fcntl(listener, F_SETFD, 0);
  return dup2(listener, CSYSTEM_FIRST_SOCKET);
}

// A service manager that passes sockets names the process for which they are meant.
static void take_sockets(char **environment, char entry[32]) {
  static const char name[] = "LISTEN_PID=";
  for (; *environment != NULL; environment++) {
    if (strncmp(*environment, name, strlen(name)) != 0) continue;
    if (strtol(*environment + strlen(name), NULL, 10) != getppid()) continue;
    snprintf(entry, 32, "%s%d", name, (int)getpid());
    *environment = entry;
  }
}

// Runs in the child, which shares the memory of this process until it executes its program. Returns
// an error.
static int execute(const struct csystem_spawn *spawn, int nice, volatile int *stop) {
  if (setpgid(0, 0) != 0) return errno;
  // A thread of Dispatch may have a different nice value, by its quality of service.
  if (getpriority(PRIO_PROCESS, 0) != nice) setpriority(PRIO_PROCESS, 0, nice);
  if (spawn->guardian != NULL) csystem_guardian_add(spawn->guardian, getpid());
  if (spawn->terminal >= 0) tcsetpgrp(spawn->terminal, getpid());
  if (spawn->input >= 0 && dup2(spawn->input, STDIN_FILENO) < 0) return errno;
  if (spawn->output >= 0 && dup2(spawn->output, STDOUT_FILENO) < 0) return errno;
  if (spawn->errors >= 0 && dup2(spawn->errors, STDERR_FILENO) < 0) return errno;
  if (spawn->listener >= 0 && pass_listener(spawn->listener) < 0) return errno;
  // After the registration, because the lifeline of the guardian is among these descriptors; but
  // before anything that may take long, because other readers wait until all copies are closed.
  close_others(spawn);
  if (spawn->standard_input != NULL) {
    int input = open(spawn->standard_input, O_RDONLY | O_CLOEXEC);
    if (input < 0) return errno;
    if (input != STDIN_FILENO && dup2(input, STDIN_FILENO) < 0) return errno;
    if (input == STDIN_FILENO) fcntl(input, F_SETFD, 0);
  }
  if (spawn->directory != NULL && chdir(spawn->directory) != 0) return errno;
  char found[PATH_MAX], listener[32];
  take_sockets(spawn->environment, listener);
  const char *program = find(spawn, found);
  if (program == NULL) return errno;
  reset_signals(spawn->defaults);
  sigset_t none;
  sigemptyset(&none);
  *stop = put_off_stop(spawn->defaults);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execvpe(program, spawn->arguments, spawn->environment);
  return errno;
}

// The child's part, and what it returns in the shared memory.
struct start {
  const struct csystem_spawn *spawn;
  int nice;
  volatile int error, stop;
};

static int run_child(void *context) {
  struct start *start = context;
  start->error = execute(start->spawn, start->nice, &start->stop);
  if (start->spawn->guardian != NULL) csystem_guardian_forget(start->spawn->guardian, getpid());
  _exit(127);
}

// Where `vfork` is refused: a child that shares the memory as well, on a stack of its own.
static pid_t clone_child(struct start *start) {
  size_t size = 256 * 1024;
  char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  pid_t child = clone(run_child, stack + size, CLONE_VM | CLONE_VFORK | SIGCHLD, start);
  int error = errno;
  munmap(stack, size);
  errno = error;
  return child;
}

int csystem_spawn(const struct csystem_spawn *spawn, pid_t *pid) {
  int error = 0;
  sigset_t all, before;
  sigfillset(&all);
  // No signal handler may run in the child.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct start start = {.spawn = spawn, .nice = getpriority(PRIO_PROCESS, getpid())};
  pid_t child = vfork();
  if (child == 0) run_child(&start);
  if (child < 0 && (errno == EPERM || errno == ENOSYS)) child = clone_child(&start);
  if (child < 0) {
    error = errno;
  } else if (start.error != 0) {
    error = start.error;
    while (waitpid(child, NULL, 0) == -1 && errno == EINTR) {
    }
  } else if (start.stop != 0) {
    kill(-child, start.stop);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  // The child is about to run, and the rest of this function can wait.
  sched_yield();
  *pid = child;
  return error;
}

#endif
