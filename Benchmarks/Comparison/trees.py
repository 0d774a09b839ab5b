"""Trees to be watched."""

import os
import shutil
import subprocess


def make_tree(root, directories, files):
    """So many directories, four deep and twenty to a directory, with so many files in each."""
    os.makedirs(root)
    made = 0

    def fill(directory, depth):
        nonlocal made
        for number in range(20):
            if made >= directories:
                return
            path = f"{directory}/directory{number:02d}"
            os.mkdir(path)
            made += 1
            for file in range(files):
                os.close(os.open(f"{path}/source{file}.swift", os.O_CREAT | os.O_WRONLY, 0o644))
            if depth < 3:
                fill(path, depth + 1)

    top = 0
    while made < directories:
        os.mkdir(f"{root}/top{top:03d}")
        made += 1
        fill(f"{root}/top{top:03d}", 1)
        top += 1


def make_files(root, directories, files):
    """`directories` times `files` files. Their paths."""
    paths = []
    for directory in range(directories):
        os.makedirs(f"{root}/directory{directory}")
        for file in range(files):
            paths.append(f"{root}/directory{directory}/file{file}")
            open(paths[-1], "w").close()
    return paths


def rewrite(paths, text):
    """Writes each file as fast as possible, as a save does that is not atomic. It is not truncated
    before: some file systems would then wait for the disk when it is closed."""
    data = text.encode()
    for path in paths:
        file = os.open(path, os.O_WRONLY)
        os.write(file, data)
        os.close(file)


def make_repository(root, directories, files):
    """A git repository with two branches, `one` and `two`, that differ in each file. The paths."""
    def git(*words):
        subprocess.run(
            ["git", "-C", root, "-c", "user.name=b", "-c", "user.email=b@example.org",
             "-c", "gc.auto=0", *words], check=True, capture_output=True)

    paths = make_files(root, directories, files)
    git("init", "-q", "-b", "one")
    for branch in ("one", "two"):
        if branch == "two":
            git("checkout", "-q", "-b", "two")
        rewrite(paths, f"this is {branch}\n")
        git("add", ".")
        git("commit", "-q", "-m", branch)
    return paths


def checkout(root, branch):
    subprocess.run(["git", "-C", root, "checkout", "-q", branch], check=True)


def remove(root):
    shutil.rmtree(root, ignore_errors=True)
