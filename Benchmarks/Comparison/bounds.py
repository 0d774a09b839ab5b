"""What we want to be, in numbers, and whether we are."""


def judge(results):
    """For each bound that was measured: what, the bound, the value, its unit, and whether it holds."""
    found = []

    def note(what, limit, value, unit="", is_floor=False):
        if value is not None:
            sign = "≥" if is_floor else "≤"
            text = f"{sign} {limit:g} {unit}".strip()
            found.append((what, text, value, unit, value >= limit if is_floor else value <= limit))

    latency = results.get("latency", {})
    own, floor = at(latency, "watchrun", "median"), at(latency, "floor", "median")
    note("save to command", 15, own, "ms")
    for peer in ("entr", "watchfiles", "reflex"):
        note(f"… ahead of {peer}", 3, over(at(latency, peer, "median"), own), "×", is_floor=True)
    note("save to command, `-d 0`, to the floor", 1.5,
         over(at(latency, "watchrun -d 0", "median"), floor), "×")

    wait = results.get("wait", {})
    note("`--wait` with nothing to do", 10, at(wait, "idle", "median"), "ms")
    note("`--wait` right after a save", 40, at(wait, "saved", "median"), "ms")

    for size in results.get("readiness", []):
        directories = next(iter(size.values()))["directories"]
        own, to_floor = at(size, "watchrun", "ready"), at(size, "watchrun", "to_floor")
        if directories == 20000:
            note("ready, 20,000 directories, to the floor", 1.2, to_floor, "×")
            note("… to inotifywait", 0.6, over(own, at(size, "inotifywait -m", "ready")), "×")
            note("memory, 20,000 directories", 14, at(size, "watchrun", "proportional"), "MB")
        if directories == 100000:
            note("ready, 100,000 directories, to the floor", 1.25, to_floor, "×")
    growth_of_trees(results.get("readiness", []), note)

    burst = results.get("burst", {})
    note("20,000 rewrites, CPU", 200, at(burst, "watchrun", "cpu"), "ms")
    note("… runs", 3, at(burst, "watchrun", "runs"))
    note("… not reported", 0, at(burst, "watchrun", "lost"))
    checkout = results.get("checkout", {})
    note("checkout of 10,000 files, not reported", 0, at(checkout, "watchrun", "lost"))
    costs = list(results.get("growth", {}).values())
    if costs:
        note("a burst in the largest tree, to the smallest", 1.15, over(costs[-1], costs[0]), "×")

    # From a file, the numbers are texts.
    tasks = {str(number): it for number, it in results.get("tasks", {}).items()}
    note("20,000 rewrites for 40 tasks, CPU", 400, at(tasks, "40", "cpu"), "ms")
    note("… memory", 60, at(tasks, "40", "memory"), "MB")

    idle = results.get("idle", {})
    note("idle, wake-ups", 0, at(idle, "watchrun", "wakeups"))
    note("idle, CPU", 0, at(idle, "watchrun", "cpu"), "ms")
    ignored = results.get("ignored", {}).get("watchrun", {})
    note("200,000 ignored files, to none", 1.02, over(ignored.get("with"), ignored.get("without")), "×")
    version = results.get("version", {})
    start = at(version, "watchrun --version", "median")
    note("`--version`, to a static Swift program", 1.47, over(start, at(version, "static Swift", "median")), "×")
    note("size of the program", 9, at(version, "watchrun --version", "size"), "MB")
    note("restart of a server, `-d 0`", 15, at(results.get("restart", {}), "watchrun -d 0", "median"), "ms")
    serving(results.get("pages"), note)
    reloading(results.get("browser", {}), note)
    return found


def serving(it, note):
    if not it:
        return
    rates, request = it["rates"], it["request"]
    note("small file, requests a second, to nginx", 0.33, over(rates["watchrun"], rates["nginx"]), "×",
         is_floor=True)
    note("… memory then", 20, it["memory"], "MB")
    note("added to a request by the proxy", 0.3, request["proxy"] - request["nginx"], "ms")
    note("memory after 1 GB through the proxy", 20, it["download"]["memory"], "MB")
    note("1,000 idle listeners, memory", 30, it["listeners"]["memory"], "MB")
    note("… wake-ups", 0, it["listeners"]["wakeups"])


def reloading(servers, note):
    own = servers.get("watchrun", {})
    page, sheet = at(own, "page", "median"), at(own, "sheet", "median")
    note("save to reloaded page, in Chromium", 60, page, "ms")
    for peer in ("livereload", "hugo", "mkdocs"):
        other = at(servers.get(peer, {}), "page", "median")
        note(f"… ahead of {peer}", 1, over(other, page), "×", is_floor=True)
    note("save to new stylesheet, in Chromium", 40, sheet, "ms")


def growth_of_trees(sizes, note):
    """Per directory, the largest tree must cost no more than the middle one: linear, and not faster."""
    sizes = {next(iter(size.values()))["directories"]: size.get("watchrun", {}) for size in sizes}
    if 20000 in sizes and 100000 in sizes:
        for kind, what in (("ready", "time to ready"), ("private", "memory")):
            large, small = sizes[100000].get(kind), sizes[20000].get(kind)
            note(f"{what} of 100,000 directories, to five times that of 20,000", 1.2,
                 over(large, small and small * 5), "×")


def at(part, label, key):
    return part.get(label, {}).get(key)


def over(value, base):
    return value / base if value is not None and base else None
