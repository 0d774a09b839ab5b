#ifdef __linux__
#define _GNU_SOURCE  // accept4, struct ucred
#endif
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int close_with_error(int descriptor) {
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

static int set_up(int descriptor) {
  if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) == -1) return -1;
  int flags = fcntl(descriptor, F_GETFL);
  if (flags == -1 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == -1) return -1;
#ifdef SO_NOSIGPIPE
  int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
  return 0;
}

// A new socket, and the address of the path.
static int local_socket(const char *path, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address->sun_path, path);
  int type = SOCK_STREAM;
#ifdef __linux__
  type |= SOCK_CLOEXEC | SOCK_NONBLOCK;
#endif
  int descriptor = socket(AF_UNIX, type, 0);
  if (descriptor == -1) return -1;
  return set_up(descriptor) == -1 ? close_with_error(descriptor) : descriptor;
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

int csystem_local_accept(int listener) {
#ifdef __linux__
  return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
  int descriptor = accept(listener, NULL, NULL);
  if (descriptor == -1) return -1;
  return set_up(descriptor) == -1 ? close_with_error(descriptor) : descriptor;
#endif
}

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
