"""The results as bars, for a page that may be light or dark."""

import math
from xml.sax.saxutils import escape

WIDTH, LABEL, BAR, ROW, GAP = 860, 150, 560, 20, 46

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #6e7781; }
.title { font-weight: 600; font-size: 14px; }
.bar { fill: #8c959f; opacity: .55; }
.floor { fill: none; stroke: #8c959f; stroke-dasharray: 3 2; }
.watchrun { fill: #2da44e; }
.own { font-weight: 600; }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1; }
  .watchrun { fill: #3fb950; }
}
"""


def draw(results):
    panels = [panel for panel in [
        values("From a save to the command, median, in ms (each step of the scale is ten times the one before)",
               results.get("latency", {}), "median", "ms", is_logarithmic=True),
        *tree_panels(results.get("readiness", [])),
        values("Processor time of 20,000 rewrites, in ms", results.get("burst", {}), "cpu", "ms"),
    ] if panel]
    body, top = [], 10
    for title, bars, unit, is_logarithmic in panels:
        part, top = draw_panel(title, bars, unit, is_logarithmic, top)
        body += part
    note = f"{results['machine']['date']}, {results['machine']['processor']}"
    body.append(f'<text x="0" y="{top + 10}">{escape(note)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + 20}" '
        f'width="{WIDTH}" height="{top + 20}" role="img">\n<title>watchrun and its peers</title>\n'
        f"<style>{STYLE}</style>\n" + "\n".join(body) + "\n</svg>\n")


def values(title, part, key, unit, is_logarithmic=False):
    bars = [(label, it[key]) for label, it in part.items() if it.get(key) is not None]
    return (title, sorted(bars, key=lambda bar: bar[1]), unit, is_logarithmic) if bars else None


def tree_panels(sizes):
    """Of the trees that were measured, the one in the middle."""
    if not sizes:
        return []
    size = sizes[len(sizes) // 2]
    directories = f"{next(iter(size.values()))['directories']:,}"
    return [
        values(f"Until a tree of {directories} directories is watched, in ms", size, "ready", "ms"),
        values("Memory then (proportional), in MB", size, "proportional", "MB"),
    ]


def draw_panel(title, bars, unit, is_logarithmic, top):
    parts = [f'<text class="title" x="0" y="{top + 14}">{escape(title)}</text>']
    top += 26
    most = max(value for _, value in bars)
    for label, value in bars:
        if is_logarithmic:
            # From a tenth of a millisecond.
            length = BAR * math.log10(max(value, 0.11) * 10) / math.log10(most * 10)
        else:
            length = BAR * value / most
        name = label.split()[0]
        kind = name if name in ("floor", "watchrun") else "bar"
        own = ' class="own"' if name == "watchrun" else ""
        text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        parts += [
            f'<text{own} x="{LABEL - 8}" y="{top + 13}" text-anchor="end">{escape(label)}</text>',
            f'<rect class="{kind}" x="{LABEL}" y="{top + 2}" width="{max(length, 1):.1f}" height="14" rx="2"/>',
            f'<text{own} x="{LABEL + length + 6:.1f}" y="{top + 13}">{text} {unit}</text>',
        ]
        top += ROW
    return parts, top + GAP - ROW
