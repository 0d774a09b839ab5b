"""What the claims share: projects on disk, the watchrun under test, and a headless Chromium."""
import atexit, os, re, shutil, socket, subprocess, tempfile, time
from pathlib import Path
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

ROOT = Path(__file__).resolve().parents[2]
WATCHRUN = os.environ.get("WATCHRUN", str(ROOT / ".build/release/watchrun"))
# Not /tmp, which watchrun treats as scratch space.
WORK = Path(tempfile.mkdtemp(prefix="watchrun-browser-", dir="/var/tmp"))
atexit.register(shutil.rmtree, WORK, ignore_errors=True)
results = []

def check(claim, passed, detail=""):
    """Prints and counts the outcome of a claim."""
    results.append(bool(passed))
    print(f"ok     {claim}" if passed else f"FAILED {claim}  [{detail}]", flush=True)

def until(condition, seconds=15):
    """Waits until a condition holds. Returns its last value, which is falsy after the deadline."""
    end, value = time.monotonic() + seconds, None
    while not value and time.monotonic() < end:
        time.sleep(0.02)  # the polling interval
        try:
            value = condition()
        except (WebDriverException, OSError):
            value = None  # the page is being replaced, or the server does not answer yet
    return value

def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]

class Project:
    """A directory with files."""

    def __init__(self, name, files):
        self.directory = WORK / name
        for path, text in files.items():
            self.write(path, text)

    def write(self, path, text):
        file = self.directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if text.startswith("#!"):
            file.chmod(0o755)

    def replace(self, path, old, new):
        self.write(path, (self.directory / path).read_text().replace(old, new))

class Watchrun:
    """A running watchrun. Leaving the `with` block stops it."""

    def __init__(self, project, *arguments, **environment):
        self.project, self.arguments, self.environment = project, arguments, environment
        self.start()

    def start(self):
        self.log = WORK / f"{self.project.directory.name}.log"
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen(
                [WATCHRUN, *self.arguments], cwd=self.project.directory, stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, env=os.environ | self.environment)
        served = until(lambda: re.search(r"serving .* at (http://\S+)/", self.output))
        if not served:
            self.stop()
            raise RuntimeError("watchrun serves nothing:\n" + self.output)
        self.url = served[1]

    @property
    def output(self):
        return self.log.read_text(errors="replace")

    def said(self, text, count=1):
        """Waits until watchrun, or a command, has written a text so often."""
        return until(lambda: self.output.count(text) >= count)

    def stop(self):
        self.process.terminate()
        if until(lambda: self.process.poll() is not None) is None:
            self.process.kill()
            check("watchrun exits when asked", False)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        self.stop()
        if error:
            print(self.output[-4000:], flush=True)

# Runs before the scripts of each page: counts loads, records the messages between tabs.
PROBE = """
try {
  sessionStorage.loads = +(sessionStorage.loads ?? 0) + 1;
  window.messages = [];
  new BroadcastChannel('watchrun').onmessage = ({ data }) => messages.push(data);
  addEventListener('LiveReloadConnect', () => messages.push({ type: 'hello' }), true);
} catch {}
"""

class Browser:
    """A headless Chromium."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage",
                         "window-size=1000,800"):
            options.add_argument("--" + argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.probe()

    def probe(self):
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": PROBE})

    def reset(self):
        """Leaves one empty tab. A page left open would reload when the next watchrun answers."""
        for tab in reversed(self.driver.window_handles):
            self.driver.switch_to.window(tab)
            self.driver.get("about:blank")
            if tab != self.driver.window_handles[0]:
                self.driver.close()

    def js(self, script, *arguments):
        return self.driver.execute_script("return " + script.strip(), *arguments)

    def open(self, url, in_new_tab=False):
        """Opens a page. Returns whether its client script has connected."""
        if in_new_tab:
            self.driver.switch_to.new_window("tab")
            self.probe()
        self.driver.get(url)
        return self.connected()

    def connected(self):
        """Waits until the client script of the page has connected."""
        return until(lambda: self.js(
            "document.readyState === 'complete' && messages.some((m) => m.type === 'hello')"))

    def shows(self, selector, text):
        """Waits until an element has this text."""
        return until(lambda: self.js(
            "document.querySelector(arguments[0])?.textContent", selector) == text)

    def colored(self, selector, color):
        """Waits until an element has this color."""
        return until(lambda: self.js(
            "getComputedStyle(document.querySelector(arguments[0])).color", selector) == color)

    @property
    def loads(self):
        """How often this tab has loaded pages of the present origin."""
        return int(self.js("sessionStorage.loads"))

    def element(self, selector):
        return self.driver.find_element("css selector", selector)

    def in_overlay(self, selector):
        """An element of the overlay; `None` without one."""
        return self.js("document.querySelector('watchrun-overlay')?.shadowRoot"
                       ".querySelector(arguments[0])", selector)
