"""Lets browsers and clients of every kind use pages for some minutes, while saves restart their server.

Fails if an answer is wrong, refused or late, if a save does not reach a browser, or if watchrun ends with other
descriptors, or much more memory, than after the warm-up, wakes up while nothing changes, or leaves something behind.
Needs Linux, and Debian's chromium, chromium-driver and python3-selenium.
"""
import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import time

from PageSoak import content
from PageSoak.clients import LIMIT, Clients
from PageSoak.wire import Connection

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{here}/../../Tests/Browser")
try:
    from harness import WORK, Browser, free_port, until
except ImportError:
    sys.exit("python3-selenium is missing: apt-get install chromium chromium-driver python3-selenium")

BROWSERS, CROWD, LISTENERS = 2, 480, 60
DESCRIPTORS = 1024
MEMORY_MARGIN = 110  # per cent of what it was after the warm-up
FILES = [("small.bin", 20_000), ("middle.bin", 2_000_000), ("large.bin", 64 << 20)]

PAGE = """<!doctype html><html><head><title>page</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/site.css"></head><body><h1>{}</h1><p id="socket"></p><p id="events"></p><script>
if ({}) {{
  const show = (id, text) => {{ document.getElementById(id).textContent = text; }};
  const socket = new WebSocket(`ws://${{location.host}}/echo`);
  socket.onopen = () => socket.send('x'.repeat(70000));
  socket.onmessage = ({{ data }}) => show('socket', data.length);
  new EventSource('/events/1').onmessage = ({{ data }}) => show('events', data);
}}
</script></body></html>"""
PROJECT = """{{ tasks: {{
  build: {{ run: "cp src/index.html site/index.html", watch: ["src"] }},
  site: {{ serve: "site", after: ["build"], port: {} }},
  server: {{ run: "exec {} {}/server.py {} app.html", watch: ["app.html"], service: true, ready: {{ port: {} }} }},
  app: {{ proxy: {}, after: ["server"], port: {} }},
  last: {{ proxy: {}, reload: ["views"], port: {} }},
}} }}"""


def run(program, minutes):
    """Returns the exit status: 0 if all holds."""
    # So that nothing is left when it is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with Watchrun(program) as watchrun:
        browsers = []
        try:
            for _ in range(BROWSERS):
                browsers.append(Tabs(watchrun.pages))
            problems = asyncio.run(Soak(watchrun, browsers).run(minutes * 60))
        finally:
            for tabs in browsers:
                tabs.browser.driver.quit()
        problems += watchrun.stop()
    for problem in problems:
        print(problem)
    return 1 if problems else 0


class Watchrun:
    """The program, its project, and the server that nothing restarts."""

    def __init__(self, program):
        self.directory = WORK / "project"
        self.number = 0
        self.ports = dict(zip(("site", "app", "last", "server", "other"), distinct_ports(5)))
        self.pages = [(name, self.ports[name]) for name in ("site", "app", "last")]
        p, python = self.ports, sys.executable
        self.write("watchrun.json", PROJECT.format(
            p["site"], python, here, p["server"], p["server"], p["server"], p["app"], p["other"], p["last"]))
        self.write("site/site.css", color(0))
        for kind in ("page", "server", "view"):
            self.save(kind, 0)
        for name, size in FILES:
            self.write("site/" + name, b"".join(content.parts(name, size)))
        (WORK / "run").mkdir(mode=0o700)
        self.other = subprocess.Popen(
            [python, f"{here}/server.py", str(p["other"]), "views/index.html", "again"], cwd=self.directory)
        self.log = open(WORK / "log", "wb")
        environment = os.environ | {"XDG_RUNTIME_DIR": str(WORK / "run"), "SOAK": str(WORK)}
        self.process = subprocess.Popen(
            ["sh", "-c", f'ulimit -n {DESCRIPTORS}; exec "$0" --no-keys', program], cwd=self.directory,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment)
        if not until(lambda: self.output.count("serving ") == 3, LIMIT):
            raise RuntimeError("watchrun serves nothing:\n" + self.output)

    def write(self, path, data):
        file = self.directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())

    def save(self, kind, number):
        """Saves what shows this number in one of the pages."""
        if kind == "sheet":
            return self.write("site/site.css", color(number))
        path = {"page": "src/index.html", "server": "app.html", "view": "views/index.html"}[kind]
        self.write(path, PAGE.format(number, "false" if kind == "page" else "true"))

    @property
    def output(self):
        return (WORK / "log").read_text(errors="replace")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory(self):
        """What of its memory is its own, in kB."""
        text = open(f"/proc/{self.process.pid}/smaps_rollup").read()
        return sum(int(count) for count in re.findall(r"(?m)^(?:Private\w+|Swap): +(\d+)", text))

    def wakeups(self):
        """How often each thread has been woken up."""
        found, tasks = {}, f"/proc/{self.process.pid}/task"
        for thread in os.listdir(tasks):
            try:
                text = open(f"{tasks}/{thread}/status").read()
            except FileNotFoundError:
                continue
            found[thread] = re.findall(r"ctxt_switches:\t(\d+)", text)
        return found

    def processes(self):
        """Processes of it, by a variable in their environment."""
        mark, found = f"SOAK={WORK}".encode(), []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if mark in open(f"/proc/{name}/environ", "rb").read().split(b"\0"):
                    found.append(name)
            except OSError:
                continue
        return found

    def stop(self):
        """Ends it. Returns what is left."""
        self.process.terminate()
        if until(lambda: self.process.poll() is not None, LIMIT) is None:
            self.process.kill()
            return ["it does not end when asked"]
        left = [f"process {number} is left" for number in self.processes()]
        left += [f"{path} is left" for path in (WORK / "run").rglob("*") if not path.is_dir()]
        return left

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind or self.process.returncode != -15:
            print(self.output[-4000:], flush=True)
        for process in (self.process, self.other):
            if process.poll() is None:
                process.kill()
            process.wait()
        self.log.close()


class Tabs:
    """A browser with a tab for each page."""

    def __init__(self, pages):
        self.browser = Browser()
        self.tabs = {}
        for name, port in pages:
            if not self.browser.open(f"http://localhost:{port}/", in_new_tab=True):
                raise RuntimeError(f"{name} does not connect")
            self.tabs[name] = self.browser.driver.current_window_handle

    def show(self, kind, number):
        """Waits until a save is in its page. Returns whether it is."""
        page = {"page": "site", "sheet": "site", "server": "app", "view": "last"}[kind]
        self.browser.driver.switch_to.window(self.tabs[page])
        if kind == "sheet":
            wanted, script = f"rgb(1, {number // 256}, {number % 256})", "getComputedStyle(%s).color"
        else:
            wanted, script = str(number), "%s.textContent"
        script = script % "document.querySelector('h1')"
        if not until(lambda: self.browser.js(script) == wanted, LIMIT):
            return False
        return page == "site" or until(lambda: self.browser.js(
            "document.getElementById('socket').textContent === '70000'"
            " && document.getElementById('events').textContent !== ''"), LIMIT)

    def shown(self):
        """What the current tab shows, in a line."""
        text = self.browser.js("`${document.readyState}: ${document.body.innerText}`")
        return repr(text[:300])


class Soak:
    def __init__(self, watchrun, browsers):
        self.watchrun, self.browsers = watchrun, browsers
        self.problems = []
        self.saves = self.number = 0

    async def run(self, seconds):
        await self.phase(max(20, min(seconds / 5, 120)))
        before = await self.settled()
        self.saves = 0
        clients = await self.phase(seconds)
        after = await self.settled()
        wakeups = self.watchrun.wakeups()
        await asyncio.sleep(10)
        changed = [thread for thread, counts in self.watchrun.wakeups().items() if counts != wakeups.get(thread)]
        self.report(seconds, clients, before, after, len(changed))
        return self.problems

    async def phase(self, seconds):
        """Lets everything happen for a time."""
        progress(f"for {seconds:.0f} s")
        clients = Clients([port for _, port in self.watchrun.pages], FILES)
        running = asyncio.create_task(clients.run(CROWD, LISTENERS))
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not running.done():
            await self.save()
        await asyncio.sleep(3)
        for _, port in self.watchrun.pages:
            self.check_listeners(clients, port, await newest_revision(port))
        clients.ended.set()
        progress("ends clients")
        try:
            await asyncio.wait_for(running, 180)
        except TimeoutError:
            self.problems.append("some clients do not end")
        self.problems += clients.failures
        return clients

    async def save(self):
        """One save, or several at once, of which each browser must show the last."""
        kind = random.choice(["page", "sheet", "server", "view"])
        for _ in range(random.choice([1, 1, 3])):
            self.number += 1
            self.watchrun.save(kind, self.number)
            await asyncio.sleep(random.choice([0, 0.1, 0.5]))
        self.saves += 1
        shown = await asyncio.gather(*(
            asyncio.to_thread(tabs.show, kind, self.number) for tabs in self.browsers))
        for browser, is_shown in enumerate(shown):
            if not is_shown:
                text = f"browser {browser} does not show save {self.number} of the {kind}"
                text += f", but {self.browsers[browser].shown()}"
                progress(text)
                self.problems.append(text)
        await asyncio.sleep(random.uniform(0.2, 2))

    def check_listeners(self, clients, port, newest):
        late = [n for n, revision in clients.revisions[port].items() if revision != newest]
        if late or not clients.revisions[port]:
            self.problems.append(f"{len(late)} listeners at {port} have not received revision {newest}")

    async def settled(self):
        """Descriptors and memory once the connections that browsers keep are closed, after 75 s."""
        progress("waits for quiet")
        wakeups, since = None, time.monotonic()
        deadline = since + 300
        while time.monotonic() < min(since + 80, deadline):
            await asyncio.sleep(5)
            now = self.watchrun.wakeups()
            if now != wakeups:
                wakeups, since = now, time.monotonic()
        return self.watchrun.descriptors(), self.watchrun.memory()

    def report(self, seconds, clients, before, after, changed):
        print(f"{self.saves} saves in {seconds / 60:g} min, {clients.evicted} idle connections closed")
        print(", ".join(f"{count} {name}" for name, count in sorted(clients.counts.items())))
        for name, *numbers in [("", "before", "after"), *zip(("descriptors", "memory, kB"), before, after)]:
            print(f"{name:<12} {numbers[0]:>8} {numbers[1]:>8}")
        print(f"threads that woke up in 10 s of quiet: {changed}", flush=True)
        claims = {
            "descriptors were not given back": before[0] == after[0],
            f"memory has grown by more than {MEMORY_MARGIN - 100} %": after[1] <= before[1] * MEMORY_MARGIN / 100,
            "it wakes up without a reason": changed == 0,
            "it has ended": self.watchrun.process.poll() is None,
        }
        self.problems += [problem for problem, holds in claims.items() if not holds]


def progress(text):
    if os.environ.get("VERBOSE"):
        print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


async def newest_revision(port):
    async with await Connection.open(port) as it:
        await it.request("/__watchrun/events")
        await it.answer()
        hello = await it.reader.readuntil(b'"revision":')
        return int(re.match(rb"\d+", await it.reader.readuntil(b","))[0]) if hello else None


def color(number):
    return f"h1 {{ color: rgb(1, {number // 256}, {number % 256}); }}"


def distinct_ports(count):
    ports = set()
    while len(ports) < count:
        ports.add(free_port())
    return ports
