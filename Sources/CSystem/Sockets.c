#define _GNU_SOURCE
#include "CSystem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/openat2.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#else
#include <sys/event.h>
#include <sys/types.h>
#include <sys/uio.h>
#endif

static int close_with_error(int descriptor) {
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

static int set_up(int descriptor) {
  int yes = 1;
#ifndef __linux__
  if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) == -1) return -1;
  if (fcntl(descriptor, F_SETFL, O_NONBLOCK) == -1) return -1;
#endif
#ifdef SO_NOSIGPIPE
  setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
  (void)yes;
  return 0;
}

// A socket that is not inherited and does not block.
static int open_socket(int family) {
  int type = SOCK_STREAM;
#ifdef __linux__
  type |= SOCK_CLOEXEC | SOCK_NONBLOCK;
#endif
  int descriptor = socket(family, type, 0);
  if (descriptor == -1) return -1;
  return set_up(descriptor) == -1 ? close_with_error(descriptor) : descriptor;
}

static int accept_from(int listener, struct sockaddr *name, socklen_t *length) {
#ifdef __linux__
  return accept4(listener, name, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
  int descriptor = accept(listener, name, length);
  if (descriptor == -1) return -1;
  return set_up(descriptor) == -1 ? close_with_error(descriptor) : descriptor;
#endif
}

int csystem_listen(const char *address, uint16_t port) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
  int family = AF_INET;
  if (inet_pton(AF_INET, address, &four.sin_addr) != 1) {
    family = AF_INET6;
    if (inet_pton(AF_INET6, address, &six.sin6_addr) != 1) {
      errno = EADDRNOTAVAIL;
      return -1;
    }
  }
  int descriptor = open_socket(family);
  if (descriptor == -1) return -1;
  int yes = 1;
  // A port that was in use a moment ago can be taken at once.
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (family == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
  const struct sockaddr *name =
      family == AF_INET ? (const struct sockaddr *)&four : (const struct sockaddr *)&six;
  socklen_t size = family == AF_INET ? sizeof four : sizeof six;
  if (bind(descriptor, name, size) == -1) return close_with_error(descriptor);
  if (listen(descriptor, 511) == -1) return close_with_error(descriptor);
  return descriptor;
}

int csystem_socket_port(int descriptor) {
  struct sockaddr_storage name;
  socklen_t size = sizeof name;
  if (getsockname(descriptor, (struct sockaddr *)&name, &size) == -1) return -1;
  if (name.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&name)->sin_port);
  return ntohs(((struct sockaddr_in6 *)&name)->sin6_port);
}

int csystem_accept(int listener, char *peer, size_t size) {
  struct sockaddr_storage name;
  socklen_t length = sizeof name;
  int descriptor = accept_from(listener, (struct sockaddr *)&name, &length);
  if (descriptor == -1) return -1;
  int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  const void *address = name.ss_family == AF_INET
                            ? (const void *)&((struct sockaddr_in *)&name)->sin_addr
                            : (const void *)&((struct sockaddr_in6 *)&name)->sin6_addr;
  if (inet_ntop(name.ss_family, address, peer, (socklen_t)size) == NULL) peer[0] = 0;
  return descriptor;
}

int csystem_interface_address(int index, char *text, size_t size) {
  struct ifaddrs *all;
  if (getifaddrs(&all) == -1) return -1;
  int place = 0, result = -1;
  for (struct ifaddrs *next = all; next != NULL && result == -1; next = next->ifa_next) {
    if (next->ifa_addr == NULL || (next->ifa_flags & IFF_LOOPBACK) || !(next->ifa_flags & IFF_UP))
      continue;
    if (next->ifa_addr->sa_family != AF_INET || place++ != index) continue;
    const void *address = &((struct sockaddr_in *)next->ifa_addr)->sin_addr;
    if (inet_ntop(AF_INET, address, text, (socklen_t)size) != NULL) result = 0;
  }
  freeifaddrs(all);
  return result;
}

void csystem_probe_peer(int descriptor) {
  int yes = 1, seconds = 10, count = 3;
#ifdef __APPLE__
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPALIVE, &seconds, sizeof seconds);
#else
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
#endif
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

int csystem_open_beneath(int directory, const char *path) {
#ifdef __linux__
  struct open_how how = {
      .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
#else
  (void)directory;
  (void)path;
  errno = ENOSYS;
  return -1;
#endif
}

#ifdef __linux__

int csystem_poller_open(void) { return epoll_create1(EPOLL_CLOEXEC); }

int csystem_poller_add(int poller, int descriptor, uint64_t token) {
  struct epoll_event event = {
      .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.u64 = token};
  return epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

int csystem_poller_read(int poller, struct csystem_socket_event *events, int count) {
  struct epoll_event found[64];
  if (count > 64) count = 64;
  int result = epoll_wait(poller, found, count, 0);
  for (int place = 0; place < result; place++) {
    uint32_t flags = found[place].events;
    int failed = (flags & (EPOLLERR | EPOLLHUP)) != 0;
    events[place].token = found[place].data.u64;
    events[place].is_readable = (flags & (EPOLLIN | EPOLLRDHUP)) != 0 || failed;
    events[place].is_writable = (flags & EPOLLOUT) != 0 || failed;
  }
  return result;
}

#else

int csystem_poller_open(void) {
  int descriptor = kqueue();
  if (descriptor != -1) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

int csystem_poller_add(int poller, int descriptor, uint64_t token) {
  struct kevent changes[2];
  EV_SET(&changes[0], descriptor, EVFILT_READ, EV_ADD | EV_CLEAR, 0, 0, (void *)(uintptr_t)token);
  EV_SET(&changes[1], descriptor, EVFILT_WRITE, EV_ADD | EV_CLEAR, 0, 0, (void *)(uintptr_t)token);
  return kevent(poller, changes, 2, NULL, 0, NULL);
}

int csystem_poller_read(int poller, struct csystem_socket_event *events, int count) {
  struct kevent found[64];
  struct timespec now = {0, 0};
  if (count > 64) count = 64;
  int result = kevent(poller, NULL, 0, found, count, &now);
  for (int place = 0; place < result; place++) {
    int failed = (found[place].flags & (EV_EOF | EV_ERROR)) != 0;
    events[place].token = (uint64_t)(uintptr_t)found[place].udata;
    events[place].is_readable = found[place].filter == EVFILT_READ || failed;
    events[place].is_writable = found[place].filter == EVFILT_WRITE || failed;
  }
  return result;
}

#endif

// MARK: - Connecting

static int begin_to_connect(const struct addrinfo *address) {
  int number = open_socket(address->ai_family);
  if (number == -1 || connect(number, address->ai_addr, address->ai_addrlen) == 0) return number;
  return errno == EINPROGRESS ? number : close_with_error(number);
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

// MARK: - Unix sockets

// A new socket, and the address of the path.
static int local_socket(const char *path, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address->sun_path, path);
  return open_socket(AF_UNIX);
}

int csystem_local_listen(const char *path) {
  struct sockaddr_un address;
  int descriptor = local_socket(path, &address);
  if (descriptor == -1) return -1;
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == -1 ||
      chmod(path, 0600) == -1 || listen(descriptor, 511) == -1)
    return close_with_error(descriptor);
  return descriptor;
}

int csystem_local_connect(const char *path) {
  struct sockaddr_un address;
  int descriptor = local_socket(path, &address);
  if (descriptor == -1) return -1;
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == -1)
    return close_with_error(descriptor);
  return descriptor;
}

int csystem_local_accept(int listener) { return accept_from(listener, NULL, NULL); }

int csystem_local_peer(int socket, uid_t *user) {
#ifdef __linux__
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == -1) return -1;
  *user = peer.uid;
  return 0;
#else
  gid_t group;
  return getpeereid(socket, user, &group);
#endif
}
