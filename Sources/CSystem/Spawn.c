#define _GNU_SOURCE
#include "CSystem.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

// What `posix_spawn` does, and two things more that must be done by the child itself, before it
// executes its program: to entrust its group to the guardian, so that there is no moment in which it
// exists and we alone know of it; and to take the terminal, so that there is none in which it reads
// and may not.

static void reset_signals(const sigset_t *defaults) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) {
    if (sigismember(defaults, number) == 1) sigaction(number, &action, NULL);
  }
}

// In the child. It shares our memory until it executes its program, while we wait. Answers an error.
static int execute(const struct csystem_spawn *spawn) {
  if (setpgid(0, 0) != 0) return errno;
  if (spawn->guardian != NULL) csystem_guardian_add(spawn->guardian, getpid());
  if (spawn->terminal >= 0) tcsetpgrp(spawn->terminal, getpid());
  if (spawn->standard_input != NULL) {
    int input = open(spawn->standard_input, O_RDONLY);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0) return errno;
  }
  if (spawn->output >= 0) {
    if (dup2(spawn->output, STDOUT_FILENO) < 0) return errno;
    if (dup2(spawn->output, STDERR_FILENO) < 0) return errno;
  }
  if (spawn->directory != NULL && chdir(spawn->directory) != 0) return errno;
  // Not before the group is entrusted: the guardian's lifeline is among them.
  csystem_close_range(STDERR_FILENO + 1, INT32_MAX);
  reset_signals(spawn->defaults);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execvpe(spawn->program, spawn->arguments, spawn->environment);
  return errno;
}

int csystem_spawn(const struct csystem_spawn *spawn, pid_t *pid) {
  volatile int error = 0;
  sigset_t all, before;
  sigfillset(&all);
  // None of our handlers may run in the child.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t child = vfork();
  if (child == 0) {
    error = execute(spawn);
    if (spawn->guardian != NULL) csystem_guardian_forget(spawn->guardian, getpid());
    _exit(127);
  }
  if (child < 0) {
    error = errno;
  } else if (error != 0) {
    while (waitpid(child, NULL, 0) == -1 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  *pid = child;
  return error;
}

#endif
