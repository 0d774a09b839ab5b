// The command that is run: says when its first instruction was, and does what a command does that
// is wanted for measuring.
//
//   stamp FIFO [...]              and ends
//   stamp FIFO serve MILLISECONDS and waits to be asked to end, which takes so long
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t patience;

static void end(int signal) {
  struct timespec time = {patience / 1000, patience % 1000 * 1000000L};
  nanosleep(&time, NULL);
  _exit(signal == 0);
}

int main(int count, char **words) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (count < 2) return 64;
  char line[32];
  int length = snprintf(line, sizeof line, "%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
  int fifo = open(words[1], O_WRONLY | O_NONBLOCK);
  if (fifo < 0 || write(fifo, line, length) != length) return 1;
  if (count > 3 && strcmp(words[2], "serve") == 0) {
    patience = atoi(words[3]);
    signal(SIGTERM, end);
    signal(SIGINT, end);
    for (;;) pause();
  }
}
