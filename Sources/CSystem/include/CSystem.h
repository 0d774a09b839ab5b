// Functions of the C library that Swift cannot import: macros, variadic functions and GNU
// extensions, each as a function with a fixed signature, without decisions.
#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

/// The arguments of this process, the name of the program first, and their number. With glibc only.
char *const *csystem_arguments(int *count);

/// The status of a file: the parts of `stat` and `statx` that the package uses.
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

/// Queries a file, with `flags` as for `fstatat`; with NULL as the path, the open file itself.
/// Returns 0, or -1 with `errno`.
int csystem_file_status(
    int directory, const char *path, int flags, struct csystem_file_status *status);

/// The kernel's number for the kind of file system at `path` (`f_type` of `statfs`); -1 with
/// `errno`. Linux only.
int64_t csystem_file_system_type(const char *path);

/// Reads entries of an open directory in the kernel's format (`struct dirent64`). Linux only.
long csystem_directory_entries(int descriptor, void *buffer, size_t size);

/// A descriptor that becomes readable when the process ends. Linux only.
int csystem_pidfd_open(pid_t pid);

/// A descriptor that is readable while the signal, which must be blocked, is pending. Reading it
/// would receive the signal. Linux only.
int csystem_pending_open(int signal);

/// A timer, which is readable when its time has come. Returns -1 with `errno` on failure. Linux only.
int csystem_timer_open(void);
/// Sets a timer to a time of the monotonic clock, or with 0 to none.
void csystem_timer_set(int timer, int64_t time_ns);
/// Makes a timer unreadable. Returns false if its time has not come, because it was changed.
bool csystem_timer_take(int timer);

/// `waitid` for one child, with `options` such as `WEXITED`, `WNOHANG` and `WNOWAIT`. Sets `code`
/// to a `CLD_…` constant, or 0 if nothing has happened, and `status` to the exit status or the
/// signal.
int csystem_wait(pid_t pid, int options, int *code, int *status);

/// A child that has ended and has not been waited for; 0 if there is none. It is not reaped.
pid_t csystem_ended_child(void);

/// Which children of this process are descendants of a run whose parents have ended.
struct csystem_orphans {
  const char *mark;       // begins a variable in the environment of each run, whose number ends it
  uint64_t run, latest;   // the numbers of the run and of the latest one
  const uint64_t *known;  // the numbers of other runs: an orphan of one that has been forgotten is of the run
  int known_count;
  const pid_t *others;    // children that are not of the run, nor are the members of their groups
  int other_count;
  bool counts_unmarked;   // whether children without any of the marks are of the run
};

/// Adds to `groups` the process groups, in the session, of the descendants of their leaders, and returns
/// their new number. Without `orphans`, descendants whose parents have ended are not found. `excluded` is
/// left out. Only on Linux with CONFIG_PROC_CHILDREN.
int csystem_descendant_groups(
    pid_t session, pid_t excluded, pid_t *groups, int count, int capacity,
    const struct csystem_orphans *orphans);

/// The same, also for all processes in the session whose environment has a variable that begins with `mark`.
/// Reads the environment of each of them.
int csystem_marked_groups(
    pid_t session, pid_t excluded, pid_t *groups, int count, int capacity, const char *mark);

/// Whether a descendant of this process is alive and in the group. One whose parent ends meanwhile may be
/// missed. Linux only.
bool csystem_has_living_descendant(pid_t group);

/// Stores the processes that are alive and in the group, and returns their number; -1 if the kernel does not tell.
/// Linux only.
int csystem_living_members(pid_t group, pid_t *members, int capacity);

/// What processes and their descendants have done.
struct csystem_process_activity {
  uint64_t written;       // bytes, also of reaped children, to anything
  uint64_t dirtied;       // bytes of pages of files, also by way of memory maps
  uint64_t child_faults;  // page faults of reaped children
  uint64_t processes;     // a hash of the processes
  uint64_t switches;      // a hash of how often each of their threads has stopped to run
  bool is_running;        // whether a thread may be in the middle of a change
};

/// Queries the activity of processes and their descendants. Returns -1 if the kernel does not tell it.
/// With `adopts`, all other children of this process count as well, but for those with the number or the
/// group of one that it has `launched`: they are descendants whose parents have ended.
int csystem_process_activity(
    const pid_t *leaders, int count, const pid_t *launched, int launched_count, bool adopts,
    struct csystem_process_activity *activity);

/// Makes this process adopt descendants whose parents have ended. Stores the children that it has, and
/// returns their number, or -1 where the system cannot do that.
int csystem_adopt_orphans(pid_t *children, int capacity);

/// The first of a process and its descendants in its session that runs a program with one of these names, as the
/// kernel keeps them: at most 15 bytes; 0 if none does. Each name is followed by a line break, and the first one
/// preceded by one.
pid_t csystem_process_of_program(pid_t leader, const char *names);

/// Sends a signal to groups, and returns how many of them accept signals from this process. The programs with these
/// names, unless that is NULL, are suspended until their descendants have ended: what they then find of their files is
/// what remains. The rest of the groups is suspended until the programs have ended. A process that handles the signal is
/// awaited for 50 ms, and any other for half a second at most.
int csystem_signal_groups(const pid_t *groups, int count, int signal, const char *names);

/// For each of the files, by device and inode, how a process or a descendant has it open: not for writing, for
/// reading and writing anywhere, or for writing or appending only. One that is appended to is written by who has
/// written what is at its end.
enum csystem_open_mode { CSYSTEM_NOT_WRITABLE, CSYSTEM_UPDATED, CSYSTEM_WRITTEN };

void csystem_files_open_for_writing(
    pid_t leader, const struct csystem_file_status *files, int count,
    enum csystem_open_mode *modes);

/// Stores the processes that read standard output or standard error of this process from a pipe, and those that
/// read what they print, and returns their number.
int csystem_output_readers(pid_t *processes, int capacity);

int csystem_spawn_add_change_directory(posix_spawn_file_actions_t *actions, const char *path);
int csystem_spawn_add_close_from(posix_spawn_file_actions_t *actions, int lowest);

/// A descriptor that becomes readable when another one is hung up and, with `input`, whenever more
/// input arrives there. `csystem_silence` makes it unreadable until then. Linux only.
int csystem_edges_open(int descriptor, int input);

/// Makes it become readable also, with `activity`, at once and whenever the descriptor, a terminal, is used: written
/// to, its echo included, or given other modes.
int csystem_edges_set(int edges, int descriptor, int input, int activity);

/// A descriptor that is readable while another one is, or is hung up. Linux only.
int csystem_readability_open(int descriptor);

/// A descriptor that becomes readable once when another one does. After `csystem_silence` it stays
/// unreadable, whatever arrives, until it is armed again. Linux only.
int csystem_readiness_open(int descriptor);
int csystem_readiness_arm(int readiness, int descriptor);

void csystem_silence(int epoll);

/// Creates a pipe. Neither end is inherited, and reads do not block. Returns 0, or -1 with `errno`.
int csystem_pipe(int ends[2]);

/// Creates a pseudo-terminal: the end that is read, without blocking, and that of programs, whose output is not
/// processed. Neither is inherited. Returns 0, or -1 with `errno`.
int csystem_terminal(int ends[2], int columns, int rows);
int csystem_set_size(int terminal, int columns, int rows);

/// Copies bytes that wait in a pipe into another pipe, without consuming them and without blocking.
/// Returns their number, or -1 with `errno`.
long csystem_copy_pipe(int from, int to, unsigned long limit);

/// Writes a time in UTC, in a format of `strftime`. Returns the length of the text, 0 if it is too long.
unsigned long csystem_format_time(int64_t seconds, const char *format, char *text, unsigned long size);
/// Reads a text that `csystem_format_time` would make of its time, but for the day of the week. Returns 0, or
/// -1 for any other text.
int csystem_parse_time(const char *text, const char *format, int64_t *seconds);

/// Writes the numeric addresses of a host into a text, in the order in which to try them, with a line feed after
/// each. Returns -1 if it has none.
int csystem_addresses(const char *host, char *text, size_t size);
/// Starts to connect to a TCP port of a host name or numeric address, without blocking. Returns the
/// socket, or -1 with `errno`.
int csystem_connect(const char *host, uint16_t port);
/// Listens at a new Unix socket, which only this user may connect to. Returns the socket, which does not
/// block, or -1 with `errno`.
int csystem_local_listen(const char *path);
/// Connects to a Unix socket. Returns the socket, which does not block, or -1 with `errno`: EAGAIN if too
/// many connections wait to be accepted.
int csystem_local_connect(const char *path);
/// The next connection of a Unix socket, which does not block, or -1 with `errno`.
int csystem_local_accept(int listener);
/// The user that runs the process at the other end of a Unix socket. Returns 0, or -1 with `errno`.
int csystem_local_peer(int socket, uid_t *user);

/// `send` without SIGPIPE.
ssize_t csystem_send(int socket, const void *bytes, size_t count);

/// Closes a range of descriptors, both ends included.
void csystem_close_range(int lowest, int highest);

// The guardian: a process that sleeps until this process has ended, for whatever reason, and then stops
// the registered process groups: with `stop_signal`, and with SIGKILL after `grace_ms`.

struct csystem_guardian;

/// Starts a guardian. It also stops the groups of processes in this session that have a variable in their
/// environment that begins with `mark`. Returns NULL with `errno` on failure.
struct csystem_guardian *csystem_guardian_start(int stop_signal, int grace_ms, const char *mark);
/// Makes it act as if this process had ended, and waits for its end, for at most a second.
void csystem_guardian_end(struct csystem_guardian *guardian);
/// Registers a group.
void csystem_guardian_add(struct csystem_guardian *guardian, pid_t group);
/// The group's leader is about to be reaped: from then on only its other members keep its ID in use.
void csystem_guardian_leader_is_reaped(struct csystem_guardian *guardian, pid_t group);
/// Removes a group that is gone: its ID may be reused.
void csystem_guardian_forget(struct csystem_guardian *guardian, pid_t group);
/// Saves the modes of a terminal that is about to be changed; the guardian restores them, unless the terminal has
/// other modes than those that are `set` and is not lent.
void csystem_guardian_keep_modes(
    struct csystem_guardian *guardian, int terminal, const struct termios *modes, const struct termios *set,
    bool is_lent);
/// The terminal has its modes again.
void csystem_guardian_modes_are_restored(struct csystem_guardian *guardian);
/// Notes that a row is drawn below the cursor of a terminal, which the guardian erases; with -1, that none is.
void csystem_guardian_row_is_drawn(struct csystem_guardian *guardian, int terminal);

/// The descriptor of the first socket that a service manager passes.
#define CSYSTEM_FIRST_SOCKET 3

/// A process to start. It inherits everything that is not specified here.
struct csystem_spawn {
  const char *program;
  char *const *arguments;
  char **environment;                 // LISTEN_PID is replaced if it names this process
  const char *directory;              // NULL: the current directory
  const char *standard_input;         // a file to read; NULL: none
  int input;                          // for standard input without a file; -1: inherited
  int output, errors;                 // for standard output and error; -1: inherited
  int terminal;                       // foreground terminal of its group; -1: none
  int listener;                       // becomes CSYSTEM_FIRST_SOCKET; -1: none
  const sigset_t *defaults;           // signals that are given their default action
  struct csystem_guardian *guardian;  // NULL: none
  const int *inherited;               // descriptors besides the standard ones, ascending
  int inherited_count;
};

/// Starts a process in a group of its own, with an empty signal mask and no other descriptors than
/// the standard and the inherited ones. Returns 0 or the error, with -1 as `pid` if no process could be
/// created. Linux only.
int csystem_spawn(const struct csystem_spawn *spawn, pid_t *pid);

/// Checks whether this process may open that many more descriptors, start that many threads, and make
/// the calls that Dispatch makes. Returns NULL, or the name of the call that fails, with `errno`.
const char *csystem_missing_requirement(int descriptors, int threads);

/// Makes all threads allocate from one arena. With an arena for each thread, the free memory that the allocator keeps
/// grows by megabytes. Call this before threads exist.
void csystem_share_free_memory(void);

/// Returns freed memory to the system.
void csystem_return_free_memory(void);

/// Drops read-only pages of the program and its libraries from memory, most of which only the start needs. They are
/// read again when they are used. No effect except on Linux.
void csystem_return_program_pages(void);

/// A non-blocking socket that listens at a numeric address; port 0 for any free one. -1 with `errno`.
int csystem_listen(const char *address, uint16_t port);

/// The port to which a socket is bound; -1 with `errno`.
int csystem_socket_port(int descriptor);

/// The next connection, non-blocking; writes the peer's numeric address. -1 with `errno`.
int csystem_accept(int listener, char *peer, size_t size);

/// The numeric IPv4 address of an interface that is up and not loopback, by its place; -1 past the last.
int csystem_interface_address(int index, char *text, size_t size);

/// Probes the peer when it has been quiet for ten seconds. The connection fails when it has gone: if its system
/// remembers, within a minute.
void csystem_probe_peer(int descriptor);

/// Opens a file for reading; fails with `EXDEV` where a `..` or a symbolic link leads out of the directory,
/// and with `ENOSYS` where the kernel cannot tell.
int csystem_open_beneath(int directory, const char *path);

/// An event of a socket.
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
