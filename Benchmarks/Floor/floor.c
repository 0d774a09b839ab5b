// The floor: what the kernel charges for watching a tree and for running a command on a change,
// with nothing on top. It decides nothing, forgets nothing and is right about nothing.
//
//   floor ready FOLDER           watches and lists all below FOLDER, prints a line, and waits
//   floor run FOLDER COMMAND...  runs COMMAND for each read that brings events
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  EVENTS = IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO,
  HOW = IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK,
  FOLDER = 4,  // DT_DIR
};

struct entry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

static int events;
static long watches;
static char path[PATH_MAX];

static void watch(size_t length) {
  if (inotify_add_watch(events, path, EVENTS | HOW) < 0) return;
  watches++;
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return;
  char buffer[16 * 1024];
  long filled;
  while ((filled = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < filled;) {
      struct entry *entry = (struct entry *)(buffer + at);
      at += entry->length;
      if (entry->type != FOLDER || strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0) continue;
      size_t name = strlen(entry->name);
      if (length + 1 + name >= sizeof path) continue;
      path[length] = '/';
      memcpy(path + length + 1, entry->name, name + 1);
      watch(length + 1 + name);
      path[length] = 0;
    }
  }
  close(directory);
}

static void run(char **command) {
  static char buffer[64 * 1024];
  struct pollfd more = {events, POLLIN, 0};
  while (read(events, buffer, sizeof buffer) > 0) {
    while (poll(&more, 1, 0) > 0) {
      if (read(events, buffer, sizeof buffer) <= 0) return;
    }
    pid_t child = vfork();
    if (child == 0) {
      execvp(command[0], command);
      _exit(127);
    }
    waitpid(child, NULL, 0);
  }
}

int main(int count, char **words) {
  if (count < 3) return 64;
  events = inotify_init1(IN_CLOEXEC);
  size_t length = strlen(words[2]);
  if (events < 0 || length >= sizeof path) return 70;
  memcpy(path, words[2], length + 1);
  watch(length);
  if (count > 3) {
    run(words + 3);
  } else {
    printf("ready %ld\n", watches);
    fflush(stdout);
    pause();
  }
}
