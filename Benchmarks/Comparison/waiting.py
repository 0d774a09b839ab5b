"""How long `watchrun --wait` takes: with nothing to do, and right after a save."""

import os
import subprocess
import time

from .statistics import summary

# Saves that follow each other faster are a stream, whose burst is longer.
PAUSE = 0.5


def measure_wait(program, work, questions, saves):
    """In milliseconds, from exec to exit. The command that a save starts is /bin/true."""
    directory = f"{work}/wait"
    os.makedirs(f"{directory}/watched")
    os.mkdir(f"{directory}/run", 0o700)
    environment = dict(os.environ, XDG_RUNTIME_DIR=f"{directory}/run")
    where = {"cwd": f"{directory}/watched", "env": environment, "stdout": subprocess.DEVNULL,
             "stderr": subprocess.DEVNULL}

    def ask():
        began = time.monotonic_ns()
        status = subprocess.run([program, "--wait"], **where).returncode
        return (time.monotonic_ns() - began) / 1e6, status

    session = subprocess.Popen([program, "/bin/true"], stdin=subprocess.DEVNULL, **where)
    try:
        while ask()[1] != 0:
            time.sleep(0.02)
        idle = [ask()[0] for _ in range(questions)]
        saved = []
        for number in range(saves):
            time.sleep(PAUSE)
            with open(f"{directory}/watched/file", "w") as file:
                file.write(str(number))
            saved.append(ask()[0])
    finally:
        session.terminate()
        session.wait()
    return {"idle": summary(idle), "saved": summary(saved)}
