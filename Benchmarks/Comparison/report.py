"""The results as tables and as a picture, and what they say about the bounds."""

from . import picture
from .bounds import judge

def write(results, directory):
    """Writes both, and gives the text."""
    text = "\n\n".join(part for part in [
        machine(results), bounds(results), starts(results), saves(results), trees(results),
        work(results), growth(results), tasks(results), pages(results), browser(results),
    ] if part) + "\n"
    with open(f"{directory}/results.md", "w") as file:
        file.write(text)
    with open(f"{directory}/results.svg", "w") as file:
        file.write(picture.draw(results))
    return text


def table(titles, rows):
    lines = [titles, ["---"] + ["--:"] * (len(titles) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value, unit="", digits=3):
    """With three digits that say something; a dash for what was not measured."""
    if value is None:
        return "–"
    if value >= 10 ** (digits - 1):
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}" if value >= 0.01 else "0"
    return text + (f" {unit}" if unit else "")


def ratio(value, base):
    return number(value / base, "×") if value is not None and base else "–"


def machine(results):
    it = results["machine"]
    peers = ", ".join(f"{name} {version}" for name, version in it["peers"].items())
    lines = [
        f"{it['date']}, {it['processor']}, {it['memory']}, {it['system']}, {it['file system']}; "
        f"{it['swift']}.",
        f"Compared: {peers}." if peers else "",
        f"Not installed: {', '.join(it['not installed'])}." if it["not installed"] else "",
        "Load average after each part: "
        + ", ".join(f"{name} {load.split()[0]}" for name, load in results["loads"].items()) + ".",
        "A quick run: it shows that all works, and no more." if it.get("quick") else "",
    ]
    return "\n".join(line for line in lines if line)


def bounds(results):
    rows = [
        [what, bound, number(value, unit), "yes" if is_met else "**no**"]
        for what, bound, value, unit, is_met in judge(results)
    ]
    return table(["what", "bound", "measured", "met"], rows) if rows else None


def saves(results):
    latency, restart = results.get("latency", {}), results.get("restart", {})
    if not latency and not restart:
        return None
    floor = latency.get("floor", {}).get("median")
    rows = []
    for label in dict.fromkeys([*latency, *restart]):
        save, again = latency.get(label, {}), restart.get(label, {})
        rows.append([
            label, number(save.get("median"), "ms"), number(save.get("p99"), "ms"),
            ratio(save.get("median"), floor), str(save.get("lost", "–")),
            number(again.get("median"), "ms"), number(again.get("p99"), "ms"),
            str(again.get("lost", "–")),
        ])
    titles = ["from a save to", "the command", "p99", "to the floor", "lost",
              "the new server", "p99", "lost"]
    return table(titles, rows)


# What Arch Linux publishes of its package for x86-64, since Debian has none to measure.
PUBLISHED_WATCHEXEC = "watchexec 2.5.0, as published by Arch Linux", 8.5


def starts(results):
    version = results.get("version")
    if not version:
        return None
    floor = version.get("static Swift", {}).get("median")
    smallest = next(iter(results.get("readiness", [])), {})
    rows = [
        [
            f"`{label}`" if " -" in label else label, number(it.get("size"), "MB"), number(it["median"], "ms"),
            ratio(it["median"], floor), number(smallest.get(label.split()[0], {}).get("proportional"), "MB"),
        ]
        for label, it in version.items()
    ]
    if not any(label.startswith("watchexec") for label in version):
        rows.append([PUBLISHED_WATCHEXEC[0], number(PUBLISHED_WATCHEXEC[1], "MB"), "–", "–", "–"])
    return table(["to start", "size", "time", "to static Swift", "memory, 1,000 directories"], rows)


def trees(results):
    sizes = results.get("readiness")
    if not sizes:
        return None
    titles, labels = ["ready"], []
    for size in sizes:
        directories = f"{next(iter(size.values()))['directories']:,}"
        titles += [f"{directories} directories", "to the floor", "memory", "of that private"]
        labels += size
    rows = []
    for label in dict.fromkeys(labels):
        row = [label]
        for size in sizes:
            it = size.get(label, {})
            row += [
                number(it.get("ready"), "ms"), number(it.get("to_floor"), "×"),
                number(it.get("proportional"), "MB"), number(it.get("private"), "MB"),
            ]
        rows.append(row)
    return table(titles, rows)


def work(results):
    idle, burst = results.get("idle", {}), results.get("burst", {})
    checkout, ignored = results.get("checkout", {}), results.get("ignored", {})
    labels = dict.fromkeys([*idle, *burst, *checkout])
    if not labels:
        return None
    seconds = next((it["seconds"] for it in idle.values()), 0)
    rows = []
    for label in labels:
        row = [label]
        row += [number(idle.get(label, {}).get("wakeups")), number(idle.get(label, {}).get("cpu"), "ms")]
        for part in (burst.get(label, {}), checkout.get(label, {})):
            cpu = "ended with an error" if part.get("died") else number(part.get("cpu"), "ms")
            row += [cpu, number(part.get("runs")), number(part.get("lost"))]
        it = ignored.get(label)
        row.append(ratio(it["with"], it["without"]) if it and len(it) > 2 else "–")
        rows.append(row)
    return table(
        ["", f"wake-ups in {seconds} s idle", "CPU", "20,000 rewrites: CPU", "runs", "not reported",
         "checkout of 10,000: CPU", "runs", "not reported", "with 200,000 ignored files"], rows)


def growth(results):
    costs = results.get("growth")
    if not costs:
        return None
    rows = [[f"{int(size):,}", number(cost, "ms")] for size, cost in costs.items()]
    return table(["directories in the tree", "CPU of a burst of 2,000 rewrites"], rows)


def tasks(results):
    costs = results.get("tasks")
    if not costs:
        return None
    files = next(iter(costs.values()))["files"]
    rows = [
        [str(count), number(it["cpu"], "ms"), number(it["memory"], "MB"), str(it["runs"])]
        for count, it in costs.items()
    ]
    return table([f"tasks that watch {files:,} rewrites", "CPU", "memory", "runs"], rows)


def pages(results):
    it = results.get("pages")
    if not it:
        return None
    rates, request, listeners = it["rates"], it["request"], it["listeners"]
    rows = [
        ["small file, 64 connections, requests/s", number(rates["watchrun"]), number(rates["nginx"])],
        ["memory then", number(it["memory"], "MB"), "–"],
        ["a request through the proxy, and without it", number(request["proxy"], "ms"),
         number(request["nginx"], "ms")],
        ["1 GB through the proxy", number(it["download"]["seconds"], "s"), "–"],
        ["memory then", number(it["download"]["memory"], "MB"), "–"],
        ["1,000 idle listeners, memory", number(listeners["memory"], "MB"), "–"],
        [f"wake-ups in {listeners['seconds']} s", str(listeners["wakeups"]), "–"],
    ]
    return table(["pages", "watchrun", "nginx"], rows)


def browser(results):
    it = results.get("browser")
    if not it:
        return None
    rows = []
    for name, kinds in it.items():
        row = [name]
        for kind in ("page", "sheet"):
            times = kinds[kind]
            row += [number(times.get("median"), "ms"), number(times.get("p90"), "ms"),
                    str(times["lost"])]
        rows.append(row)
    titles = ["in Chromium, from a save to", "the reloaded page", "p90", "lost",
              "the new stylesheet", "p90", "lost"]
    return table(titles, rows)
