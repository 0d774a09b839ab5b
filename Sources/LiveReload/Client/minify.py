#!/usr/bin/python3
"""Writes client.min.js, console.min.js, overlay.min.js and worker.min.js: the sources without comments and spaces,
with short local names.

Not a general minifier. It expects what the sources keep to: a semicolon ends each statement, there
is no division, and a name means the same in the whole file. A name that is also a property, a key
or a shorthand stays. Usage: python3 minify.py [--check]
"""
import itertools, re, string, sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
TOKEN = re.compile(r"""(?P<comment>//[^\n]*)|(?P<space>\s+)
  |(?P<text>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|/(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n])+/[a-z]*)
  |(?P<number>\d[\w.]*)|(?P<name>[A-Za-z_$][\w$]*)|(?P<mark>\.\.\.|\?\.|=>|.)""", re.X)


def tokens(source):
    """Splits JavaScript into (kind, text) pairs. Code within template literals is split as well, and
    line ends in them, which only the CSS has, are dropped."""
    result, at, depths = [], 0, []
    while at < len(source):
        resume = source[at] == "}" and depths and depths[-1] == 0
        if source[at] == "`" or resume:
            if resume:
                depths.pop()
            end = re.compile(r"(?:\\.|[^`\\$]|\$(?!\{))*(`|\$\{)", re.S).match(source, at + 1)
            if end[1] != "`":
                depths.append(0)
            result.append(("text", source[at:end.end()].replace("\n", "")))
            at = end.end()
            continue
        match = TOKEN.match(source, at)
        if depths and match[0] in "{}":
            depths[-1] += 1 if match[0] == "{" else -1
        if match.lastgroup not in ("comment", "space"):
            result.append((match.lastgroup, match[0]))
        at = match.end()
    return result


def minified(source):
    """Returns `source` in the short form."""
    found = tokens(source)
    names = Counter(text for kind, text in found if kind == "name")
    declared, fixed, braces = set(), set(), []
    for i, (kind, text) in enumerate(found):
        before, after = (found[j][1] if 0 <= j < len(found) else "" for j in (i - 1, i + 1))
        if kind == "mark" and text in "([{":
            braces.append(text)
        elif kind == "mark" and text in ")]}" and braces:
            braces.pop()
        if kind != "name":
            continue
        if before in ("const", "let") or after == "=>":
            declared.add(text)
        elif before in ("(", ",", "[", ":") and after in (",", ")", "]", "=", "}"):
            declared.add(text)  # parameters, destructured arrays, lists of variables
        isShorthand = braces[-1:] == ["{"] and before in ("{", ",") and \
            after in ((",", "}", ":") if before == "{" else (",", "}", ":", "="))
        if before in (".", "?.") or (isShorthand and not isList(found, i)):
            fixed.add(text)
    known = set(re.findall(r"\w+", """document addEventListener dispatchEvent window self top JSON Date
      location sessionStorage undefined null true false this fetch Boolean"""))
    locals_ = [n for n, _ in names.most_common() if n in declared - fixed - known and len(n) > 1]
    short = ("".join(p) for n in (1, 2) for p in itertools.product(string.ascii_letters, repeat=n))
    taken = set(names) | {"if", "in", "of", "do"}
    mapping = {name: next(s for s in short if s not in taken) for name in locals_}
    out = ""
    for i, (kind, text) in enumerate(found):
        if isBare(found, i) or isBare(found, i - 2):
            continue  # the parentheses around the only parameter of a function
        if kind == "name" and found[i - 1][1] not in (".", "?."):
            text = mapping.get(text, "let" if text == "const" else text)
        if text in ("}", "]", ")") and out.endswith(",") or text == "}" and out.endswith(";"):
            out = out[:-1]  # the sources have neither holes in arrays nor loops without a body
        if out and re.match(r"[\w$]", text) and re.search(r"[\w$]$", out):
            out += " "
        out += text
    return out + "\n"


def isBare(found, i):
    """Whether `(name) =>` begins at `i`."""
    return i >= 0 and found[i + 1:i + 2] and found[i + 1][0] == "name" and \
        [found[i][1]] + [text for _, text in found[i + 2:i + 4]] == ["(", ")", "=>"]


def isList(found, i):
    """Whether the name at `i`, after a comma in a block, continues a list of variables."""
    depth = 0
    for kind, text in reversed(found[:i]):
        if kind == "mark" and text in ")]}":
            depth += 1
        elif kind == "mark" and text in "([{":
            depth -= 1
        if depth < 0 or (depth == 0 and text == ";"):
            return False
        if depth == 0 and text in ("const", "let"):
            return True
    return False


if __name__ == "__main__":
    for name in ("client", "console", "overlay", "worker"):
        target, text = HERE / f"{name}.min.js", minified((HERE / f"{name}.js").read_text())
        if "--check" not in sys.argv:
            target.write_text(text)
            print(target.name, len(text.encode()))
        elif not target.exists() or target.read_text() != text:
            sys.exit(f"{target.name} is stale: run minify.py")
