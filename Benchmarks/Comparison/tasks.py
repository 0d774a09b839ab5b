"""One burst that many tasks watch: what it costs by the number of tasks."""

import json

from .processes import Running, Stamps, Start, cpu_of
from .readiness import settle
from .trees import make_files, remove, rewrite


def measure_tasks(program, stamp, work, directories, files, numbers):
    """For each number of tasks: the processor time of watchrun alone, in milliseconds, its largest memory, in
    megabytes, and how many runs the burst has led to."""
    return {number: measure(program, stamp, f"{work}/{number}", directories, files, number) for number in numbers}


def measure(program, stamp, work, directories, files, number):
    paths = make_files(f"{work}/project/sources", directories, files)
    stamps = Stamps(f"{work}/stamps")
    tasks = {f"task{index}": {"run": [stamp, stamps.path], "watch": ["sources"]} for index in range(number)}
    with open(f"{work}/project/watchrun.json", "w") as file:
        json.dump({"tasks": tasks}, file)
    running = Running(Start([program], directory=f"{work}/project"))
    try:
        stamps.drain(2)
        settle(running)
        before = cpu_of(running.process.pid)
        rewrite(paths, "1\n")
        runs = len(stamps.drain(3, patience=120))
        return {
            "cpu": cpu_of(running.process.pid) - before, "memory": largest_memory(running.process.pid),
            "runs": runs, "files": len(paths),
        }
    finally:
        running.end()
        stamps.close()
        remove(work)


def largest_memory(process):
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1000
