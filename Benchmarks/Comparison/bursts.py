"""Many changes at once: what they cost, how many runs they lead to, and which changes are not reported."""

import os
import time

from .processes import Running, Stamps
from .readiness import settle
from .statistics import median
from .tools import Place
from .trees import checkout, make_files, make_repository, make_tree, remove, rewrite


class Burst:
    """A tree and a way to change many of its files."""

    def __init__(self, work, directories, files):
        self.tree = f"{work}/tree"
        self.round = 0
        self.paths = self.make(directories, files)

    def make(self, directories, files):
        return make_files(self.tree, directories, files)

    def happen(self):
        self.round += 1
        rewrite(self.paths, f"{self.round}\n")


class Checkout(Burst):
    def make(self, directories, files):
        return make_repository(self.tree, directories, files)

    def happen(self):
        self.round += 1
        checkout(self.tree, "one" if self.round % 2 else "two")


def measure_burst(tools, stamp, work, burst, rounds):
    """For each tool: processor time, runs, whether one began after the last change, and how many
    of the paths it does not tell of where it tells of paths at all."""
    results = {}
    for round in range(rounds):
        for number, tool in enumerate(tools):
            result = results.setdefault(
                tool.label, {"cpu": [], "runs": [], "last change missed": 0, "lost": []})
            own = f"{work}/own-{round}-{number}"
            if tool.run is not None:
                run_once(tool, stamp, own, burst, result)
            if tool.tell is not None:
                tell_once(tool, own, burst, result)
    return {
        label: {
            "cpu": median(result["cpu"]) if result["cpu"] else None,
            "runs": median(result["runs"]) if result["runs"] else None,
            "last change missed": result["last change missed"],
            "lost": max(result["lost"]) if result["lost"] else None,
            "died": result.get("died", False),
            "paths": len(burst.paths),
        }
        for label, result in results.items() if result["cpu"] or result["lost"] or "died" in result
    }


def run_once(tool, stamp, own, burst, result):
    place = Place(burst.tree, own, burst.paths)
    stamps = Stamps(f"{own}/stamps")
    running = Running(tool.run(place, [stamp, stamps.path]))
    try:
        time.sleep(1)
        settle(running)
        stamps.drain(0)
        before = running.cpu()
        burst.happen()
        ended = time.monotonic_ns()
        times = stamps.drain(2.2, patience=15)
        if not running.is_alive:
            result["died"] = True
            return
        result["cpu"].append(running.cpu() - before)
        result["runs"].append(len(times))
        result["last change missed"] += 0 if times and max(times) >= ended else 1
    finally:
        running.end()
        stamps.close()


def tell_once(tool, own, burst, result):
    place = Place(burst.tree, f"{own}-told", burst.paths)
    with open(f"{own}/told", "wb") as told:
        running = Running(tool.tell(place), stdout=told)
        try:
            time.sleep(1)
            settle(running)
            told.truncate(0)
            burst.happen()
            wait_until_quiet(f"{own}/told")
        finally:
            running.end()
    with open(f"{own}/told", "rb") as told:
        seen = {line.lstrip(b"\0") for line in told.read().split(b"\n")}
    result["lost"].append(sum(1 for path in burst.paths if path.encode() not in seen))


def wait_until_quiet(path, patience=60):
    deadline = time.monotonic() + patience
    before = -1
    while time.monotonic() < deadline:
        size = os.stat(path).st_size
        if size == before:
            return
        before = size
        time.sleep(2.5)


def measure_bursts(tools, stamp, work, rounds):
    os.makedirs(work)
    burst = Burst(work, 200, 100)
    results = measure_burst(tools, stamp, work, burst, rounds)
    remove(work)
    return results


def measure_checkouts(tools, stamp, work, rounds):
    os.makedirs(work)
    results = measure_burst(tools, stamp, work, Checkout(work, 100, 100), rounds)
    remove(work)
    return results


def measure_growth_of_bursts(tool, stamp, work, sizes, rounds):
    """The same burst of 2,000 rewrites in trees of other sizes: the processor time of each."""
    bursts = {}
    for size in sizes:
        os.makedirs(f"{work}/{size}")
        bursts[size] = Burst(f"{work}/{size}", 20, 100)
        make_tree(f"{work}/{size}/tree/rest", size, 5)
    costs = {size: [] for size in sizes}
    for round in range(rounds):
        for size, burst in bursts.items():
            result = {"cpu": [], "runs": [], "last change missed": 0}
            run_once(tool, stamp, f"{work}/{size}/own-{round}", burst, result)
            costs[size] += result["cpu"]
    remove(work)
    return {size: median(values) for size, values in costs.items()}
