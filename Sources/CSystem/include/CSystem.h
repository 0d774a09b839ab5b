// What Swift cannot import from the C library: macros, variadic functions and GNU extensions,
// each as a small function with a fixed signature. Nothing here decides anything.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

/// What is known of one file: the part of `stat` and `statx` that the package uses.
struct csystem_file_status {
  uint64_t inode;
  uint64_t device;
  uint64_t size;
  int64_t modified_ns;  // since 1970
  int64_t changed_ns;   // since 1970
  int64_t born_ns;      // since 1970; 0 where the file system does not keep it
  uint32_t mode;
  uint32_t user;
  uint32_t group;
  uint32_t links;
};

/// `flags` as for `fstatat`; with NULL as the path, of the open file itself. 0, or -1 with `errno`.
int csystem_file_status(
    int directory, const char *path, int flags, struct csystem_file_status *status);

/// The number by which the kernel knows the kind of file system at `path` (`f_type` of `statfs`);
/// -1 with `errno`. Linux only.
int64_t csystem_file_system_type(const char *path);

/// Entries of an open directory as the kernel writes them (`struct dirent64`). Linux only.
long csystem_directory_entries(int descriptor, void *buffer, size_t size);

/// A descriptor that becomes readable when the process ends. Linux only.
int csystem_pidfd_open(pid_t pid);

/// A descriptor that is readable while the signal, which must be blocked, is pending. Not to be read
/// from: that would take it. Linux only.
int csystem_pending_open(int signal);

/// Waits as told by `options` (`WEXITED`, `WNOHANG`, `WNOWAIT` …) for one child. `code` is the
/// `CLD_…` constant, 0 if nothing has happened; `status` the exit status or the signal.
int csystem_wait(pid_t pid, int options, int *code, int *status);

int csystem_spawn_add_change_directory(posix_spawn_file_actions_t *actions, const char *path);
int csystem_spawn_add_close_from(posix_spawn_file_actions_t *actions, int lowest);

/// A descriptor that becomes readable when another one is hung up, and, with `input`, whenever more can
/// be read there than before; not as long as the same is left there. `csystem_silence` makes it
/// unreadable until then. Linux only.
int csystem_edges_open(int descriptor, int input);

/// A descriptor that is readable while another one is, or is hung up. Linux only.
int csystem_readability_open(int descriptor);

/// A descriptor that becomes readable once when another one does. After `csystem_silence` it stays
/// unreadable, whatever arrives, until it is armed again. Linux only.
int csystem_readiness_open(int descriptor);
int csystem_readiness_arm(int readiness, int descriptor);

void csystem_silence(int epoll);

/// A pipe of which neither end is inherited, and reading does not wait. 0, or -1 with `errno`.
int csystem_pipe(int ends[2]);

/// Copies bytes that wait in a pipe into another pipe, and leaves them there. Does not wait. How many, or -1.
long csystem_copy_pipe(int from, int to, unsigned long limit);

/// Begins to connect to a TCP port of a host, by its number or name, without waiting for it. The socket,
/// or -1 with `errno`.
int csystem_connect(const char *host, uint16_t port);
/// `send`, but never a SIGPIPE.
ssize_t csystem_send(int socket, const void *bytes, size_t count);

/// Closes the descriptors from the one to the other.
void csystem_close_range(int lowest, int highest);

// The guardian: a process that does nothing until we have ended, however that was, and then ends
// the process groups that were entrusted to it: by `stop_signal`, and by SIGKILL after `patience_ms`.

struct csystem_guardian;

/// Starts it. NULL with `errno` if that fails.
struct csystem_guardian *csystem_guardian_start(int stop_signal, int patience_ms);
/// Lets it do what it does when we have ended.
void csystem_guardian_dismiss(struct csystem_guardian *guardian);
/// Entrusts a group to it.
void csystem_guardian_add(struct csystem_guardian *guardian, pid_t group);
/// The group's leader is about to be waited for: from then on only its other members keep its number.
void csystem_guardian_leader_is_reaped(struct csystem_guardian *guardian, pid_t group);
/// The group is gone: its number is not ours any more.
void csystem_guardian_forget(struct csystem_guardian *guardian, pid_t group);
/// The terminal is going to be changed; these are the modes it is to have again.
void csystem_guardian_keep_modes(
    struct csystem_guardian *guardian, int terminal, const struct termios *modes);
/// The terminal has them again.
void csystem_guardian_modes_are_restored(struct csystem_guardian *guardian);

/// A process to be started; what is not said here is inherited.
struct csystem_spawn {
  const char *program;
  char *const *arguments;
  char *const *environment;
  const char *directory;              // NULL: where we are
  const char *standard_input;         // a file to read; NULL: ours
  int output;                         // standard output and error; -1: ours
  int terminal;                       // is given to its group; -1: none
  const sigset_t *defaults;           // signals that are given their default action
  struct csystem_guardian *guardian;  // NULL: none
};

/// Starts a process in a group of its own, with an empty signal mask and the standard descriptors
/// only. 0, or the error. Linux only.
int csystem_spawn(const struct csystem_spawn *spawn, pid_t *pid);

/// Has all threads take memory from one place, so that what one frees another can use. To be called
/// before there are threads.
void csystem_share_free_memory(void);

/// Gives memory that has been freed back to the system.
void csystem_return_free_memory(void);

/// Unmaps what of the program's and its libraries' code and constants is in memory. What is used again
/// comes back, from the system's cache of the file. Does nothing but on Linux.
void csystem_return_program_pages(void);

/// The present time of the clock from which the kernel stamps files, in ns since 1970.
int64_t csystem_file_clock_ns(void);

/// A non-blocking socket that listens at a numeric address; port 0 for any free one. -1 with `errno`.
int csystem_listen(const char *address, uint16_t port);

/// The port to which a socket is bound; -1 with `errno`.
int csystem_socket_port(int descriptor);

/// The next connection, non-blocking; writes the peer's numeric address. -1 with `errno`.
int csystem_accept(int listener, char *peer, size_t size);

/// The numeric IPv4 address of an interface that is up and not loopback, by its place; -1 past the last.
int csystem_interface_address(int index, char *text, size_t size);

/// The pending error of a socket, such as that of a connection attempt; 0 for none.
int csystem_socket_error(int descriptor);

/// Sends small parts at once (`TCP_NODELAY`).
void csystem_send_without_delay(int descriptor);

/// Ends our side of a connection; the peer can still send.
void csystem_shut_down_writing(int descriptor);

/// Sends a part of a file without copying it, and advances the offset. -1 with `errno`.
ssize_t csystem_send_file(int socket, int file, int64_t *offset, size_t count);

/// Opens a file for reading; fails with `EXDEV` where a `..` or a symbolic link leads out of the directory,
/// and with `ENOSYS` where the kernel cannot tell.
int csystem_open_beneath(int directory, const char *path);

/// What has become possible on a socket since it was last reported.
struct csystem_socket_event {
  uint64_t token;
  int is_readable;
  int is_writable;
};

/// A descriptor that is readable while a socket added to it has an event: one kernel queue for all.
int csystem_poller_open(void);

/// Adds a socket, edge-triggered. Closing the socket removes it.
int csystem_poller_add(int poller, int descriptor, uint64_t token);

/// Reads at most 64 events without waiting; their number, or -1 with `errno`.
int csystem_poller_read(int poller, struct csystem_socket_event *events, int count);

#endif
