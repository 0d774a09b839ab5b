#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
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

static int begin_to_connect(const struct addrinfo *address) {
  int type = address->ai_socktype;
#ifdef __linux__
  type |= SOCK_CLOEXEC;
#endif
  int number = socket(address->ai_family, type, address->ai_protocol);
  if (number == -1) return -1;
#ifdef SO_NOSIGPIPE
  int yes = 1;
  setsockopt(number, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
  if (prepare(number, 0) == 0) {
    if (connect(number, address->ai_addr, address->ai_addrlen) == 0) return number;
    if (errno == EINPROGRESS) return number;
  }
  int error = errno;
  close(number);
  errno = error;
  return -1;
}

int csystem_addresses(const char *host, char *text, size_t size) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  if (getaddrinfo(host, NULL, &hints, &found) != 0) return -1;
  size_t used = 0;
  text[0] = 0;
  for (struct addrinfo *next = found; next != NULL; next = next->ai_next) {
    char name[NI_MAXHOST];
    if (getnameinfo(next->ai_addr, next->ai_addrlen, name, sizeof name, NULL, 0, NI_NUMERICHOST) != 0) continue;
    int count = snprintf(text + used, size - used, "%s\n", name);
    if (count < 0 || (size_t)count >= size - used) break;
    used += (size_t)count;
  }
  text[used] = 0;
  freeaddrinfo(found);
  return 0;
}

int csystem_connect(const char *host, uint16_t port) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  char service[8];
  snprintf(service, sizeof service, "%u", port);
  // A numeric address needs no lookup.
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  if (getaddrinfo(host, service, &hints, &found) != 0) {
    hints.ai_flags = AI_NUMERICSERV;
    if (getaddrinfo(host, service, &hints, &found) != 0) {
      errno = EHOSTUNREACH;
      return -1;
    }
  }
  int number = -1, error = EHOSTUNREACH;
  for (struct addrinfo *next = found; next != NULL && number == -1; next = next->ai_next) {
    number = begin_to_connect(next);
    if (number == -1) error = errno;
  }
  freeaddrinfo(found);
  errno = error;
  return number;
}

ssize_t csystem_send(int socket, const void *bytes, size_t count) {
#ifdef MSG_NOSIGNAL
  return send(socket, bytes, count, MSG_NOSIGNAL);
#else
  return send(socket, bytes, count, 0);
#endif
}
