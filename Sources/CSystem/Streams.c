#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
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
