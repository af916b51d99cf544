"""Drives a headless Chromium over its debugging pipe; the standard library only."""

import base64
import json
import os
import shutil
import subprocess
import tempfile


class Browser:
    """A browser without network. Use it as a context manager."""

    def __init__(self, binary=None):
        names = [binary] if binary else ["chromium", "chromium-browser", "google-chrome"]
        found = next((path for path in map(shutil.which, names) if path), None)
        if not found:
            raise SystemExit("no Chromium found; install Debian's package chromium, or set CHROMIUM")
        self.folder = tempfile.mkdtemp(prefix="weft-browser-")
        to_browser, self.to = os.pipe()
        self.came, from_browser = os.pipe()
        arguments = [
            found, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe",
            "--disable-background-networking", "--disable-component-update", "--proxy-server=127.0.0.1:9",
            f"--user-data-dir={self.folder}", "about:blank",
        ]
        if os.geteuid() == 0:
            arguments.insert(1, "--no-sandbox")

        def wire():
            # Above 4 first, so that neither is overwritten before it is moved.
            ours, theirs = os.dup2(to_browser, 13), os.dup2(from_browser, 14)
            os.dup2(ours, 3)
            os.dup2(theirs, 4)

        self.process = subprocess.Popen(
            arguments, preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.last = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        """The next message of the browser."""
        while b"\0" not in self.buffer:
            read = os.read(self.came, 1 << 20)
            if not read:
                raise SystemExit("the browser ended")
            self.buffer += read
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def send(self, method, session=None, on_event=lambda event: None, **parameters):
        """Calls a method; events that come before its answer go to `on_event`."""
        self.last += 1
        call = {"id": self.last, "method": method, "params": parameters}
        if session:
            call["sessionId"] = session
        data = json.dumps(call).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            message = self.message()
            if message.get("id") == self.last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            on_event(message)

    def page(self):
        return Page(self)


class Page:
    """A tab. What goes wrong in it is collected in `problems`, what it asks for in `requests`."""

    KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9,
            "Home": 36, "End": 35, " ": 32}

    def __init__(self, browser):
        self.browser = browser
        self.problems = []
        self.requests = []
        self.loaded = False
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.send(f"{domain}.enable")

    def event(self, event):
        name, what = event.get("method"), event.get("params", {})
        if name == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif name == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in what["args"]))
        elif name == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.problems.append(what["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif name == "Page.loadEventFired":
            self.loaded = True

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, self.event, **parameters)

    def size(self, width, height, scale=1, dark=False):
        """Sets size in CSS pixels, pixels of the screen for one of them, and the colours asked for."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=features)

    def open(self, url):
        self.loaded = False
        self.send("Page.navigate", url=url)
        while not self.loaded:
            self.event(self.browser.message())

    def run(self, script):
        """The value of an expression in the page; promises are waited for."""
        result = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def key(self, name, shift=False):
        """Presses and releases a key."""
        common = {"key": name, "code": name, "windowsVirtualKeyCode": self.KEYS[name], "modifiers": 8 if shift else 0}
        if name in ("Enter", " "):
            common["text"] = "\r" if name == "Enter" else " "
        self.send("Input.dispatchKeyEvent", type="keyDown", **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)
        self.settle()

    def click(self, selector):
        """Clicks into the middle of an element."""
        where = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center', inline: 'center'}});"
            "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ["mousePressed", "mouseReleased"]:
            self.send("Input.dispatchMouseEvent", type=kind, x=where[0], y=where[1], button="left", clickCount=1)
        self.settle()

    def settle(self):
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def shoot(self, path, whole=False):
        """Writes a PNG of what is seen, or of the whole page."""
        parameters = {"format": "png"}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            parameters |= {"captureBeyondViewport": True, "clip": {**size, "x": 0, "y": 0, "scale": 1}}
        data = self.send("Page.captureScreenshot", **parameters)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        """Prints the page."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"]))
