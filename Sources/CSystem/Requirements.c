#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#ifdef __linux__
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#endif

#define MOST_DESCRIPTORS 64
#define MOST_THREADS 16

static void *pass(void *mutex) {
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  return NULL;
}

// Whether that many threads can exist at once. Dispatch tries for ever.
static int check_threads(int count) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_t threads[MOST_THREADS];
  int made = 0, error = 0;
  pthread_mutex_lock(&mutex);
  while (made < count && made < MOST_THREADS && error == 0) {
    error = pthread_create(&threads[made], NULL, pass, &mutex);
    if (error == 0) made++;
  }
  pthread_mutex_unlock(&mutex);
  while (made > 0) pthread_join(threads[--made], NULL);
  errno = error;
  return error == 0 ? 0 : -1;
}

static int check_descriptors(int count) {
  int copies[MOST_DESCRIPTORS], made = 0, error = 0;
  while (made < count && made < MOST_DESCRIPTORS && error == 0) {
    copies[made] = dup(STDERR_FILENO);
    if (copies[made] < 0) error = errno; else made++;
  }
  while (made > 0) close(copies[--made]);
  errno = error;
  return error == 0 ? 0 : -1;
}

#ifdef __linux__

// Makes the calls on which Dispatch depends, without which it traps.
static const char *check_calls(int *descriptors) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGWINCH);
  struct itimerspec never = {0};
  struct epoll_event event = {.events = EPOLLIN};
  if ((descriptors[0] = epoll_create1(EPOLL_CLOEXEC)) < 0) return "epoll_create1";
  if ((descriptors[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) return "eventfd";
  if ((descriptors[2] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) < 0) {
    return "timerfd_create";
  }
  if ((descriptors[3] = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK)) < 0) return "signalfd";
  if (timerfd_settime(descriptors[2], 0, &never, NULL) != 0) return "timerfd_settime";
  if (epoll_ctl(descriptors[0], EPOLL_CTL_ADD, descriptors[1], &event) != 0) return "epoll_ctl";
  if (epoll_wait(descriptors[0], &event, 1, 0) < 0 && errno != EINTR) return "epoll_wait";
  return NULL;
}

#else

static const char *check_calls(int *descriptors) {
  (void)descriptors;
  return NULL;
}

#endif

const char *csystem_missing_requirement(int descriptors, int threads) {
  if (check_descriptors(descriptors) != 0) return "dup";
  int opened[] = {-1, -1, -1, -1};
  const char *missing = check_calls(opened);
  int error = errno;
  for (int i = 0; i < 4; i++) {
    if (opened[i] >= 0) close(opened[i]);
  }
  errno = error;
  if (missing != NULL) return missing;
  return check_threads(threads) == 0 ? NULL : "pthread_create";
}
