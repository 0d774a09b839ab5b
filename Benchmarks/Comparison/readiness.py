"""Time until a tree is watched, what is needed in memory then, and what is done while idle."""

import os
import select
import subprocess
import time

from .processes import Running
from .statistics import median
from .tools import Place
from .trees import make_tree, remove

PATIENCE = 120


def watch_limit():
    return int(open("/proc/sys/fs/inotify/max_user_watches").read())


def start_watching(tool, place):
    """The running tool, and after how many milliseconds it was ready; None if it never was."""
    start = tool.watch(place)
    where, text = tool.ready or (None, None)
    running = Running(
        start, stdout=subprocess.PIPE if where == "stdout" else subprocess.DEVNULL,
        stderr=subprocess.PIPE if where == "stderr" else subprocess.DEVNULL)
    if start.then:
        # It has answered that it is done.
        ended = time.monotonic()
    elif where:
        ended = wait_for_text(getattr(running.process, where), text)
    else:
        ended = wait_for_watches(running)
    return running, None if ended is None else (ended - running.began) * 1e3


def wait_for_text(stream, text):
    seen = b""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if select.select([stream], [], [], 1)[0]:
            part = os.read(stream.fileno(), 65536)
            seen += part
            if text.encode() in seen:
                return time.monotonic()
            if not part:
                return None
    return None


def wait_for_watches(running):
    """Until the number of its watches has stopped to grow: they are counted from outside."""
    last, since = 0, time.monotonic()
    while running.is_alive and time.monotonic() - running.began < PATIENCE:
        count = running.watches()
        now = time.monotonic()
        if count != last:
            last, since = count, now
        elif count and now - since > 1:
            return since
        time.sleep(0.02)
    return None


def measure_readiness(tools, work, directories, files, rounds):
    """For each tool, the floor before all others, the time to ready, how many times the floor's of the same
    round that is, and its memory once it has settled."""
    tree = f"{work}/tree"
    make_tree(tree, directories, files)
    paths = [f"{place}/{name}" for place, _, names in os.walk(tree) for name in names]
    results = {}
    for round in range(rounds):
        floor = None
        for number, tool in enumerate(tools):
            if tool.watch is None or (tool.watches_each_file and len(paths) > watch_limit() / 2):
                continue
            place = Place(tree, f"{work}/own-{round}-{number}", paths)
            warm(tree, tool)
            running, took = start_watching(tool, place)
            try:
                result = results.setdefault(
                    tool.label, {
                        "times": [], "to_floor": [], "proportional": [], "private": [], "failed": 0})
                if took is None:
                    result["failed"] += 1
                    continue
                result["times"].append(took)
                # Round by round: a machine that has become slower has become slower for both.
                floor = took if tool.name == "floor" else floor
                if floor:
                    result["to_floor"].append(took / floor)
                # What is done after it is ready is done by then.
                settle(running)
                for kind, size in running.memory().items():
                    result[kind].append(size)
            finally:
                running.end()
                if os.path.exists(f"{tree}/.watchmanconfig"):
                    os.unlink(f"{tree}/.watchmanconfig")
    remove(tree)
    return {
        label: {
            "directories": directories,
            "ready": median(result["times"]) if result["times"] else None,
            "to_floor": median(result["to_floor"]) if result["to_floor"] else None,
            "proportional": median(result["proportional"]) if result["times"] else None,
            "private": median(result["private"]) if result["times"] else None,
            "failed": result["failed"],
        }
        for label, result in results.items()
    }


def warm(tree, tool):
    """Whoever comes first must not pay for what the kernel has forgotten meanwhile: the tree, but for what
    is to be ignored, and the tool's own program."""
    words = ["find", tree, "-name", "node_modules", "-prune", "-o", "-name", "none of these", "-print"]
    subprocess.run(words, check=True)
    if os.path.isfile(tool.program):
        with open(tool.program, "rb") as file:
            file.read()


def settle(running, patience=20):
    """Waits until it does nothing any more."""
    deadline = time.monotonic() + patience
    before = running.cpu()
    while time.monotonic() < deadline:
        time.sleep(0.4)
        now = running.cpu()
        if now - before < 2:
            return
        before = now


def measure_idle(tools, work, directories, files, seconds):
    """Processor time and wake-ups of all at once, while nothing happens."""
    tree = f"{work}/tree"
    make_tree(tree, directories, files)
    paths = [f"{place}/{name}" for place, _, names in os.walk(tree) for name in names]
    running = {}
    try:
        for number, tool in enumerate(tools):
            if tool.watch is not None and tool.label not in running:
                place = Place(tree, f"{work}/own-{number}", paths)
                running[tool.label], _ = start_watching(tool, place)
        for program in running.values():
            settle(program)
        # Idle threads of a pool go away after some seconds.
        time.sleep(min(seconds, 10))
        before = {label: (it.cpu(), it.wakeups()) for label, it in running.items()}
        time.sleep(seconds)
        return {
            label: {
                "seconds": seconds, "cpu": it.cpu() - before[label][0],
                "wakeups": max(0, it.wakeups() - before[label][1]),
            }
            for label, it in running.items()
        }
    finally:
        for program in running.values():
            program.end()
        remove(tree)


def measure_ignored(tools, work, directories, rounds):
    """A tree with and without 200,000 files that are ignored."""
    trees = {"without": f"{work}/without", "with": f"{work}/with"}
    for tree in trees.values():
        make_tree(tree, directories, 5)
        os.makedirs(f"{tree}/node_modules")
    for number in range(2000):
        directory = f"{trees['with']}/node_modules/package{number}"
        os.mkdir(directory)
        for file in range(100):
            os.close(os.open(f"{directory}/file{file}.js", os.O_CREAT | os.O_WRONLY, 0o644))
    times, memory = {}, {}
    for round in range(rounds):
        for number, tool in enumerate(tools):
            for kind, tree in trees.items():
                place = Place(tree, f"{work}/own-{round}-{number}-{kind}")
                warm(tree, tool)
                running, took = start_watching(tool, place)
                if took is not None:
                    settle(running)
                    times.setdefault(tool.label, {}).setdefault(kind, []).append(took)
                    memory.setdefault(tool.label, {}).setdefault(kind, []).append(
                        running.memory()["private"])
                running.end()
    for tree in trees.values():
        remove(tree)
    return {
        label: {
            **{kind: median(values) for kind, values in kinds.items()},
            "memory": {kind: median(values) for kind, values in memory[label].items()},
        }
        for label, kinds in times.items()
    }
