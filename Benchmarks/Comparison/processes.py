"""Programs that are measured: how they are started and ended, and what they take."""

import os
import select
import signal
import subprocess
import time


class Start:
    """How a program is started, and what is to be said to it then."""

    def __init__(self, words, directory=None, stdin=None, environment=None, then=()):
        self.words = words
        self.directory = directory
        self.stdin = stdin
        self.environment = environment
        # Commands to be run when it is up, for a server that is told what to do.
        self.then = list(then)


class Running:
    """A program that runs, in a session of its own, so that all of it can be ended."""

    def __init__(self, start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        self.began = time.monotonic()
        environment = {**os.environ, **(start.environment or {})}
        self.process = subprocess.Popen(
            start.words, cwd=start.directory, stdout=stdout, stderr=stderr, start_new_session=True,
            stdin=subprocess.DEVNULL if start.stdin is None else subprocess.PIPE, env=environment)
        if start.stdin is not None:
            try:
                self.process.stdin.write(start.stdin)
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        for words in start.then:
            # A server needs a moment until it can be spoken to.
            for _ in range(100):
                done = subprocess.run(words, capture_output=True, env=environment)
                if done.returncode == 0:
                    break
                time.sleep(0.05)

    @property
    def is_alive(self):
        return self.process.poll() is None

    def members(self):
        """All processes of its session."""
        own = self.process.pid
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                fields = open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            # state, parent, group, session
            if int(fields[3]) == own and fields[0] != "Z":
                found.append(int(name))
        return found

    def end(self):
        """Asks it to end, and sees to it that nothing of it is left."""
        groups = self.groups()
        self.signal(groups, signal.SIGTERM)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        self.signal(groups | self.groups(), signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()

    def groups(self):
        found = set()
        for member in self.members():
            try:
                found.add(os.getpgid(member))
            except ProcessLookupError:
                pass
        return found

    def signal(self, groups, number):
        for group in groups:
            try:
                os.killpg(group, number)
            except (ProcessLookupError, PermissionError):
                pass

    # What it takes

    def cpu(self):
        """Processor time so far, in milliseconds, of the processes that are still there."""
        return sum(cpu_of(member) for member in self.members())

    def wakeups(self):
        return sum(wakeups_of(member) for member in self.members())

    def memory(self):
        """Proportional and private memory, in MB."""
        kinds = {"Pss": 0, "Private_Clean": 0, "Private_Dirty": 0}
        for member in self.members():
            try:
                for line in open(f"/proc/{member}/smaps_rollup"):
                    name, _, rest = line.partition(":")
                    if name in kinds:
                        kinds[name] += int(rest.split()[0])
            except OSError:
                continue
        return {
            "proportional": kinds["Pss"] / 1024,
            "private": (kinds["Private_Clean"] + kinds["Private_Dirty"]) / 1024,
        }

    def watches(self):
        """How many inotify watches it has."""
        count = 0
        for member in self.members():
            directory = f"/proc/{member}/fdinfo"
            try:
                for name in os.listdir(directory):
                    if os.readlink(f"/proc/{member}/fd/{name}") == "anon_inode:inotify":
                        count += open(f"{directory}/{name}").read().count("\ninotify wd:")
            except OSError:
                continue
        return count


def cpu_of(process):
    try:
        # The clock of a process, CPUCLOCK_SCHED: to the nanosecond, ended threads included.
        return time.clock_gettime_ns((~process << 3) | 2) / 1e6
    except OSError:
        return 0


def wakeups_of(process):
    count = 0
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            for line in open(f"/proc/{process}/task/{thread}/status"):
                if line.startswith("voluntary_ctxt_switches"):
                    count += int(line.split()[1])
    except OSError:
        pass
    return count


class Stamps:
    """Where commands say when they began: a named pipe, so that waiting for them costs nothing."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        # Open for writing too, so that it never comes to an end.
        self.descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def wait(self, timeout, since=0):
        """The first stamp that is not older than `since`, in nanoseconds; None if none comes."""
        deadline = time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.descriptor], [], [], left)[0]:
                return None
            for stamp in self.read():
                if stamp >= since:
                    return stamp

    def read(self):
        try:
            return [int(line) for line in os.read(self.descriptor, 65536).split()]
        except BlockingIOError:
            return []

    def drain(self, quiet, patience=30):
        """All stamps until none has come for `quiet` seconds."""
        found = []
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline and select.select([self.descriptor], [], [], quiet)[0]:
            found += self.read()
        return found

    def close(self):
        os.close(self.descriptor)
        os.unlink(self.path)
