"""What is compared, and how each is told to do the same thing."""

import os
import shutil
import subprocess
import sys

from .processes import Start

CACHE = os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "watchrun-benchmarks")
PACKAGES = [
    "inotify-tools", "entr", "fswatch", "watchman", "reflex", "python3-watchdog",
    # For pages, and for what is measured in a browser.
    "wrk", "nginx-light", "curl", "chromium", "chromium-driver", "python3-selenium",
    "python3-livereload", "hugo", "mkdocs",
]


class Place:
    """Where a tool is to watch, and where it may put what it needs."""

    def __init__(self, directory, own, files=()):
        self.directory = directory
        self.own = own
        self.files = files
        os.makedirs(own, exist_ok=True)

    @property
    def list(self):
        return "".join(f"{path}\n" for path in self.files).encode()


class Tool:
    """One tool, with its defaults or at its fastest. What it cannot do, it has no method for.

    `run(place, command)` runs a command on a change; `serve(place, command)` restarts one;
    `tell(place)` prints the paths that change, one a line; `watch(place)` just watches, and is
    watching when it prints what `ready` says, or, where it says nothing, when it has its watches.
    """

    run = serve = tell = watch = None
    ready = None
    is_peer = True
    setting = "defaults"
    watches_each_file = False

    def __init__(self, name, program):
        self.name = name
        self.program = program

    @property
    def label(self):
        return self.name if self.setting == "defaults" else f"{self.name} {self.setting}"


class Floor(Tool):
    is_peer = False
    ready = ("stdout", "ready")

    def run(self, place, command):
        return Start([self.program, "run", place.directory, *command])

    def watch(self, place):
        return Start([self.program, "ready", place.directory])


class Watchrun(Tool):
    is_peer = False
    ready = ("stdout", "ready")
    options = []

    def run(self, place, command):
        return Start([self.program, "-w", place.directory, *self.options, "--", *command], place.own)

    def serve(self, place, command):
        return Start([self.program, "-r", "-w", place.directory, *self.options, "--", *command], place.own)

    def tell(self, place):
        return Start([self.program, "-w", place.directory, *self.options, "--print", "lines"], place.own)

    def watch(self, place):
        return Start([self.program, "-w", place.directory, *self.options, "--print", "json"], place.directory)


class FastWatchrun(Watchrun):
    setting = "-d 0"
    options = ["-d", "0"]


class Watchexec(Tool):
    options = []

    def run(self, place, command):
        return Start([self.program, "-w", place.directory, *self.options, "--", *command], place.own)

    def serve(self, place, command):
        return Start([self.program, "-r", "-w", place.directory, *self.options, "--", *command], place.own)

    def watch(self, place):
        return Start([self.program, "-w", place.directory, "--only-emit-events"], place.directory)


class FastWatchexec(Watchexec):
    setting = "-d 0"
    options = ["-d", "0"]


class Entr(Tool):
    watches_each_file = True

    def run(self, place, command):
        return Start([self.program, "-n", *command], place.own, stdin=place.list)

    def serve(self, place, command):
        return Start([self.program, "-n", "-r", *command], place.own, stdin=place.list)

    def watch(self, place):
        return Start([self.program, "-n", "-p", "true"], place.own, stdin=place.list)


class Inotifywait(Tool):
    """In the loop that its manual shows, and in one that does not start it anew for each change."""

    ready = ("stderr", "Watches established")
    setting = "-m"
    events = "-e close_write,move,create,delete"

    def run(self, place, command):
        loop = f"'{self.program}' -q -m -r {self.events} '{place.directory}' | " \
            f"while read -r line; do {' '.join(command)}; done"
        return Start(["sh", "-c", loop], place.own)

    def tell(self, place):
        words = f"-q -m -r {self.events} --format %w%f".split()
        return Start([self.program, *words, place.directory], place.own)

    def watch(self, place):
        return Start([self.program, "-m", "-r", *self.events.split(), place.directory], place.own)


class Fswatch(Tool):
    options = []

    def run(self, place, command):
        loop = f"'{self.program}' -o -r {' '.join(self.options)} '{place.directory}' | " \
            f"xargs -n1 {' '.join(command)}"
        return Start(["sh", "-c", loop], place.own)

    def tell(self, place):
        return Start([self.program, "-r", *self.options, place.directory], place.own)

    def watch(self, place):
        return Start([self.program, "-r", place.directory], place.own)


class FastFswatch(Fswatch):
    setting = "-l 0.1"
    options = ["-l", "0.1"]


class Reflex(Tool):
    def run(self, place, command):
        return Start([self.program, "-d", "none", "--", *command], place.directory)

    def serve(self, place, command):
        return Start([self.program, "-d", "none", "-s", "--", *command], place.directory)

    def watch(self, place):
        return Start([self.program, "-d", "none", "--", "true"], place.directory)


class Watchmedo(Tool):
    def run(self, place, command):
        return Start(
            [self.program, "shell-command", "-R", "-W", f"--command={' '.join(command)}",
             place.directory], place.own)

    def serve(self, place, command):
        return Start(
            [self.program, "auto-restart", "-R", "-d", place.directory, "--", *command], place.own)

    def watch(self, place):
        return Start(
            [self.program, "shell-command", "-R", "--command=true", place.directory], place.own)


class Watchfiles(Tool):
    ready = ("stdout", "ready")

    def run(self, place, command):
        return Start([f"{self.program}/watchfiles", " ".join(command), place.directory], place.own)

    serve = run

    def python(self, place, text):
        return Start([f"{self.program}/python", "-u", "-c", text, place.directory], place.own)

    def tell(self, place):
        return self.python(
            place, "import sys, watchfiles\n"
            "for changes in watchfiles.watch(sys.argv[1]):\n"
            "  for change, path in changes: print(path)")

    def watch(self, place):
        return self.python(
            place, "import sys, time\nfrom watchfiles._rust_notify import RustNotify\n"
            "watcher = RustNotify([sys.argv[1]], False, False, 0, True, False)\n"
            "print('ready')\nwatcher.watch(1600, 50, 0, None)")


class FastWatchfiles(Watchfiles):
    setting = "step=1"
    serve = tell = watch = None

    def run(self, place, command):
        return self.python(
            place, "import subprocess, sys, watchfiles\n"
            "for _ in watchfiles.watch(sys.argv[1], debounce=1, step=1, rust_timeout=0):\n"
            f"  subprocess.run({command!r})")


class Watchman(Tool):
    """A server of its own, which forgets."""

    settle = None

    def start(self, place, *then):
        if self.settle is not None:
            with open(f"{place.directory}/.watchmanconfig", "w") as file:
                file.write(f'{{"settle": {self.settle}}}')
        socket = f"{place.own}/watchman"
        client = [self.program, f"--sockname={socket}", "--no-spawn", "--no-local"]
        return Start(
            [self.program, "--foreground", f"--sockname={socket}", "--no-save-state",
             f"--logfile={place.own}/log", f"--pidfile={place.own}/pid",
             f"--statefile={place.own}/state"],
            place.own, environment={"HOME": place.own},
            then=[client + list(words) for words in then])

    def run(self, place, command):
        return self.start(
            place, ("watch", place.directory),
            ("--", "trigger", place.directory, "run", "--", *command))

    def watch(self, place):
        # `clock` waits until all has been crawled.
        return self.start(place, ("watch", place.directory), ("clock", place.directory))


class FastWatchman(Watchman):
    setting = "settle=1"
    settle = 1


def find_tools(program, floor):
    """Those that are here, and the names of those that are not."""
    virtual = os.path.join(CACHE, "venv", "bin")
    watchfiles = virtual if os.path.exists(f"{virtual}/watchfiles") else None
    if watchfiles is None and shutil.which("watchfiles"):
        watchfiles = os.path.dirname(shutil.which("watchfiles"))
    found = [Floor("floor", floor), Watchrun("watchrun", program), FastWatchrun("watchrun", program)]
    missing = []
    for name, path, kinds in [
        ("entr", shutil.which("entr"), [Entr]),
        ("watchexec", shutil.which("watchexec"), [Watchexec, FastWatchexec]),
        ("watchfiles", watchfiles, [Watchfiles, FastWatchfiles]),
        ("reflex", shutil.which("reflex"), [Reflex]),
        ("inotifywait", shutil.which("inotifywait"), [Inotifywait]),
        ("watchman", shutil.which("watchman"), [Watchman, FastWatchman]),
        ("fswatch", shutil.which("fswatch"), [Fswatch, FastFswatch]),
        ("watchmedo", shutil.which("watchmedo"), [Watchmedo]),
    ]:
        if path is None:
            missing.append(name)
        else:
            found += [kind(name, path) for kind in kinds]
    return found, missing


def install_peers():
    """Those that Debian has, and watchfiles into a directory of its own."""
    subprocess.run(["apt-get", "update", "-qq"], check=False)
    for package in PACKAGES:
        subprocess.run(["apt-get", "install", "-y", "-qq", package], check=False,
                       stdout=subprocess.DEVNULL)
    virtual = os.path.join(CACHE, "venv")
    subprocess.run([sys.executable, "-m", "venv", virtual], check=True)
    subprocess.run([f"{virtual}/bin/pip", "install", "-q", "watchfiles"], check=False)


def versions(tools):
    """What each peer says of itself, for the record."""
    found = {}
    for tool in tools:
        if tool.name in found or tool.name == "floor":
            continue
        program = f"{tool.program}/watchfiles" if tool.name == "watchfiles" else tool.program
        words = [program, "--help" if tool.name in ("inotifywait", "entr") else "--version"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            continue
        for line in (done.stdout + done.stderr).splitlines():
            digits = [word.strip(",") for word in line.split() if any(c.isdigit() for c in word)]
            if digits and done.returncode == 0 or "release" in line:
                found[tool.name] = digits[-1] if digits else line
                break
    return found
