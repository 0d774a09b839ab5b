"""On what all of it was measured."""

import datetime
import os
import platform
import subprocess


def describe(peers, missing):
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "system": f"{distribution()}, Linux {platform.release()}",
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB",
        "swift": swift(),
        "load": load(),
        "peers": peers,
        "not installed": missing,
    }


def load():
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def distribution():
    try:
        for line in open("/etc/os-release"):
            if line.startswith("PRETTY_NAME="):
                return line.split("=", 1)[1].strip().strip('"')
    except OSError:
        pass
    return platform.system()


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def swift():
    done = subprocess.run(["swift", "--version"], capture_output=True, text=True)
    return (done.stdout.splitlines() or ["unknown"])[0]


def file_system(path):
    done = subprocess.run(
        ["stat", "-f", "-c", "%T", path], capture_output=True, text=True)
    return done.stdout.strip()
