"""From a save to the command's first instruction, and to that of a restarted server."""

import os
import random
import time

from .processes import Running, Stamps
from .statistics import summary
from .tools import Place
from .trees import make_files, remove

SERVER_STOPS_IN = "5"

# What runs twice for one save must have done so before the next.
PAUSE = 0.15
# A save soon after a restart may be the server's own: watchrun delays the fourth of them in a row.
PAUSE_OF_SERVERS = 2.2


def save(path, text):
    with open(path, "w") as file:
        file.write(text)


class Contestant:
    """A tool with a directory of its own, in which it waits for a save."""

    def __init__(self, tool, start, work, words=()):
        self.tool = tool
        number = len(os.listdir(work))
        os.makedirs(f"{work}/{number}")
        directory = f"{work}/{number}/watched"
        self.files = make_files(directory, 4, 5)
        self.stamps = Stamps(f"{work}/{number}/stamps")
        place = Place(directory, f"{work}/{number}/own", self.files)
        self.running = Running(start(place, [*words[:1], self.stamps.path, *words[1:]]))
        self.times = []
        self.lost = 0

    def save(self, round, patience):
        """One save. Watchers that tell of one in several ways may still run for the last."""
        self.stamps.drain(0)
        began = time.monotonic_ns()
        save(self.files[0], f"{round}\n")
        stamp = self.stamps.wait(patience, since=began)
        if stamp is None:
            self.lost += 1
        else:
            self.times.append((stamp - began) / 1e6)

    def end(self):
        self.running.end()
        self.stamps.close()


def compete(contestants, rounds, patience=4, pause=PAUSE):
    """All take turns, one save each a round."""
    results = {contestant.tool.label: contestant for contestant in contestants}
    order = random.Random(7)
    time.sleep(3)
    try:
        for contestant in contestants:
            contestant.stamps.drain(0.1)
        for round in range(-3, rounds):
            if round == 0:
                # The first saves warm up.
                for contestant in contestants:
                    contestant.times, contestant.lost = [], 0
            # Nobody is to come first each time, when all has been still for a moment.
            order.shuffle(contestants)
            for contestant in contestants:
                contestant.save(round, patience)
            time.sleep(pause)
    finally:
        for contestant in contestants:
            contestant.end()
    return {
        label: {**summary(contestant.times), "lost": contestant.lost}
        for label, contestant in results.items()
    }


def measure_latency(tools, stamp, work, rounds):
    work = f"{work}/latency"
    os.makedirs(work)
    contestants = [
        Contestant(tool, tool.run, work, [stamp]) for tool in tools if tool.run is not None
    ]
    results = compete(contestants, rounds)
    remove(work)
    return results


def measure_restart(tools, stamp, work, rounds):
    """A server that takes 5 ms to stop: to the first instruction of the next one."""
    work = f"{work}/restart"
    os.makedirs(work)
    contestants = [
        Contestant(tool, tool.serve, work, [stamp, "serve", SERVER_STOPS_IN])
        for tool in tools if tool.serve is not None
    ]
    results = compete(contestants, rounds, pause=PAUSE_OF_SERVERS)
    remove(work)
    return results


def measure_version(program, hello, tools, rounds):
    """The size of the programs, and how long it takes to start each and have it say something, against a static
    Swift program and one in C that does nothing."""
    said = {"entr": "-h", "reflex": "--help", "watchexec": "--version"}
    commands = {"watchrun --version": [program, "--version"], "static Swift": [hello], "true": ["/bin/true"]}
    for tool in tools:
        if tool.name in said:
            commands[f"{tool.name} {said[tool.name]}"] = [tool.program, said[tool.name]]
    times = {label: [] for label in commands}
    for _ in range(rounds):
        for label, words in commands.items():
            began = time.monotonic_ns()
            null = [(os.POSIX_SPAWN_OPEN, output, "/dev/null", os.O_WRONLY, 0) for output in (1, 2)]
            child = os.posix_spawn(words[0], words, os.environ, file_actions=null)
            os.waitpid(child, 0)
            times[label].append((time.monotonic_ns() - began) / 1e6)
    return {
        label: {**summary(values), "size": os.stat(commands[label][0]).st_size / 1e6}
        for label, values in times.items()
    }
