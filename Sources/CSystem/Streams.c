#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static int prepare(int descriptor, int waits) {
  if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) == -1) return -1;
  return waits ? 0 : fcntl(descriptor, F_SETFL, O_NONBLOCK);
}

long csystem_copy_pipe(int from, int to, unsigned long limit) {
#ifdef __linux__
  return tee(from, to, limit, SPLICE_F_NONBLOCK);
#else
  (void)from, (void)to, (void)limit;
  return -1;
#endif
}

int csystem_pipe(int ends[2]) {
#ifdef __linux__
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
#else
  if (pipe(ends) != 0) return -1;
#endif
  if (prepare(ends[0], 0) != -1 && prepare(ends[1], 1) != -1) return 0;
  int error = errno;
  close(ends[0]);
  close(ends[1]);
  errno = error;
  return -1;
}

int csystem_terminal(int ends[2], int columns, int rows) {
  ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ends[0] == -1) return -1;
  ends[1] = -1;
  char name[128];
  struct termios modes;
  int error = 0;
  if (prepare(ends[0], 0) != -1 && grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0 &&
      (error = ptsname_r(ends[0], name, sizeof name)) == 0 &&
      (ends[1] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)) != -1 && tcgetattr(ends[1], &modes) == 0) {
    // What programs write is read as they have written it.
    modes.c_oflag &= ~(tcflag_t)OPOST;
    modes.c_lflag &= ~(tcflag_t)ECHO;
    if (tcsetattr(ends[1], TCSANOW, &modes) == 0 && csystem_set_size(ends[1], columns, rows) == 0) return 0;
  }
  if (error == 0) error = errno;
  close(ends[0]);
  if (ends[1] != -1) close(ends[1]);
  errno = error;
  return -1;
}

int csystem_set_size(int terminal, int columns, int rows) {
  struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
  return ioctl(terminal, TIOCSWINSZ, &size);
}
