"""Chromium as a program that scripts use."""

import fcntl
import json
import os
import subprocess
import tempfile

from . import children


class Browser:
    """Chromium, told by its DevTools over a pipe.

    - `login`: the user and the password, with a colon between, for the proxy.
    - `screen`: whether it has a window, on $DISPLAY.
    """

    def __init__(self, folder, *options, login=None, screen=False):
        self.login, self.number, self.rest, self.session = login, 0, b"", None
        (down, self.write), (self.read, up) = os.pipe(), os.pipe()

        def as_three_and_four():
            children.die_with_parent()
            one, two = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (down, up))
            os.dup2(one, 3)
            os.dup2(two, 4)

        # Without a sandbox, which root has none of; quiet, as what it asks for by itself is no part of a test.
        words = ["chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
                 "--disable-background-networking", "--disable-component-update",
                 f"--user-data-dir={tempfile.mkdtemp(dir=folder)}", *([] if screen else ["--headless=new"]), *options]
        self.child = children.start(words, first=as_three_and_four, close_fds=False, cwd=folder,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down), os.close(up)
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")
        self.ask("Fetch.enable", handleAuthRequests=True)

    def send(self, method, parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        return self.number

    def next(self):
        while b"\0" not in self.rest:
            more = os.read(self.read, 1 << 16)
            if not more:
                raise children.BenchError("Chromium has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Fetch.requestPaused":
            self.send("Fetch.continueRequest", {"requestId": message["params"]["requestId"]})
        if message.get("method") == "Fetch.authRequired":
            user, _, password = (self.login or "").partition(":")
            answer = {"response": "ProvideCredentials", "username": user, "password": password}
            self.send("Fetch.continueWithAuth", {"requestId": message["params"]["requestId"], "authChallengeResponse": answer})
        return message

    def ask(self, method, **parameters):
        number = self.send(method, parameters)
        while (message := self.next()).get("id") != number:
            pass
        return message.get("result", {})

    def open(self, url):
        result = self.ask("Page.navigate", url=url)
        if not result.get("errorText"):
            while self.evaluate("document.readyState") != "complete":
                pass
        return result.get("errorText", "")

    def evaluate(self, script):
        return self.ask("Runtime.evaluate", expression=script, awaitPromise=True).get("result", {}).get("value")
