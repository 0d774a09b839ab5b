"""The same small website for each server that reloads pages, and the command that serves it."""

import os
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from .processes import Running, Start

# Reports the heading and its color, with the time when both are in place. A stylesheet that is
# swapped is in place when the `load` event of its link has been dispatched.
PROBE = """
const report = () => {
  const heading = document.querySelector('h1'), color = getComputedStyle(heading).color;
  const time = performance.timeOrigin + performance.now();
  navigator.sendBeacon('COLLECTOR', JSON.stringify(
    { port: location.port, heading: heading.textContent, color, time }));
};
document.addEventListener('load', (event) => event.target.localName === 'link' && report(), true);
report();
"""

# What the page of the floor does when it is told of a save.
FLOOR_CLIENT = """
new EventSource('/events').onmessage = ({ data }) => {
  if (data === 'page') return location.reload();
  const old = document.querySelector('link[rel=stylesheet]'), next = old.cloneNode();
  next.href = old.href.split('?')[0] + '?' + performance.now();
  next.onload = () => old.remove();
  old.after(next);
};
"""

TEMPLATE = """<!doctype html>
<html><head><meta charset="utf-8"><title>TITLE</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/css/site.css"></head>
<body><nav><a href="/">Home</a> <a href="/about/">About</a> <a href="/contact/">Contact</a></nav>
<main>CONTENT</main><script>PROBE</script></body></html>
"""
PARAGRAPHS = ["A paragraph of some words, as pages have them. " * 8] * 20


def heading(save):
    return f"Save {save}"


def color(save):
    return f"rgb({save // 256}, {save % 256}, 7)"


def sheet(save):
    rules = "".join(f".c{i} {{ margin: {i}px; }}\n" for i in range(100))
    return f"h1 {{ color: {color(save)}; }}\n{rules}"


def markdown(save):
    return "\n\n".join([f"# {heading(save)}", *PARAGRAPHS]) + "\n"


class Site:
    """A server with a website of its own. Subclasses say where its files are and how it is served."""

    name: str
    page, sheet = "site/index.html", "site/css/site.css"
    others = ["site/about/index.html", "site/contact/index.html"]
    probe = PROBE

    def __init__(self, program, directory, port, collector):
        self.program, self.directory, self.port = program, directory, port
        self.probe = self.probe.replace("COLLECTOR", collector)
        self.url = f"http://127.0.0.1:{port}/"
        for path in (self.page, *self.others):
            self.write(path, self.document(0))
        self.write(self.sheet, sheet(0))
        self.configure()

    def document(self, save):
        """The text of a page."""
        body = f"<h1>{heading(save)}</h1>\n" + "\n".join(f"<p>{text}</p>" for text in PARAGRAPHS)
        return self.template("watchrun", body)

    def template(self, title, content):
        parts = {"TITLE": title, "CONTENT": content, "PROBE": self.probe}
        text = TEMPLATE
        for name, part in parts.items():
            text = text.replace(name, part)
        return text

    def configure(self):
        """Writes what the server needs besides the pages."""

    def write(self, path, text):
        path = f"{self.directory}/{path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def save_page(self, save):
        self.write(self.page, self.document(save))

    def save_sheet(self, save):
        self.write(self.sheet, sheet(save))

    def start(self):
        self.running = Running(Start(self.words(), self.directory))

    def end(self):
        self.running.end()


class Watchrun(Site):
    name = "watchrun"

    def words(self):
        return [self.program, "-q", "--serve", "site", "--port", str(self.port)]


class LiveReload(Site):
    name = "livereload"

    def words(self):
        return [self.program, "-p", str(self.port), "site"]


class MarkdownSite(Site):
    def document(self, save):
        return markdown(save)


class Hugo(MarkdownSite):
    name = "hugo"
    page, sheet = "content/_index.md", "static/css/site.css"
    others = ["content/about.md", "content/contact.md"]

    def configure(self):
        template = self.template("{{ .Title }}", "{{ .Content }}")
        self.write("config.toml", f'baseURL = "{self.url}"\ntitle = "Site"\n')
        for path in ("index", "_default/single", "_default/list"):
            self.write(f"layouts/{path}.html", template)

    def words(self):
        return [self.program, "server", "-p", str(self.port), "--bind", "127.0.0.1"]


class MkDocs(MarkdownSite):
    name = "mkdocs"
    page, sheet = "docs/index.md", "docs/css/site.css"
    others = ["docs/about.md", "docs/contact.md"]

    def configure(self):
        self.write("mkdocs.yml", "site_name: Site\ntheme: {name: null, custom_dir: theme}\n")
        self.write("theme/main.html", self.template("{{ page.title }}", "{{ page.content }}"))

    def words(self):
        return [self.program, "serve", "-q", "-a", f"127.0.0.1:{self.port}"]


class Floor(Site):
    """The browser alone: the page is told of a save by whoever makes it, and nothing is watched."""

    name = "floor"
    probe = PROBE + FLOOR_CLIENT

    def start(self):
        self.server = FloorServer(self.port, f"{self.directory}/site")

    def end(self):
        self.server.shutdown()
        self.server.server_close()

    def save_page(self, save):
        super().save_page(save)
        self.server.tell("page")

    def save_sheet(self, save):
        super().save_sheet(save)
        self.server.tell("sheet")


class FloorServer(ThreadingHTTPServer):
    """Serves a directory, and events at `/events`."""

    daemon_threads = True

    def __init__(self, port, directory):
        self.directory, self.listeners = directory, []
        super().__init__(("127.0.0.1", port), FloorHandler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def tell(self, kind):
        for listener in self.listeners[-1:]:
            listener.write(f"data: {kind}\n\n".encode())


class FloorHandler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, request, address, server):
        super().__init__(request, address, server, directory=server.directory)

    def do_GET(self):
        if self.path != "/events":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.server.listeners.append(self.wfile)
        threading.Event().wait()  # The thread ends with the program.

    def end_headers(self):
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *_):
        pass


def find_sites(program):
    """The kinds of sites whose servers are installed, each with its program; the missing ones."""
    kinds = {LiveReload: "livereload", Hugo: "hugo", MkDocs: "mkdocs"}
    programs = {kind: shutil.which(name) for kind, name in kinds.items()}
    missing = [kind.name for kind, path in programs.items() if path is None]
    found = {kind: path for kind, path in programs.items() if path is not None}
    return {Floor: None, Watchrun: program, **found}, missing
