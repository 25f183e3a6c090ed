"""Servers of other projects for sni-probe: a folder with certificates, and what was judged wrongly."""

import json
import socket
import subprocess
import time
from pathlib import Path

from . import children

HOST = "www.example.com"


def openssl(folder, *words):
    children.run(["openssl", *map(str, words)], cwd=folder)


def wait_for(port, address="127.0.0.1"):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            socket.create_connection((address, port), 1).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False


class Lab:
    """A folder with a key, roots and certificates, the servers that were started, and what was judged wrongly."""

    def __init__(self, folder, options):
        self.folder, self.options = Path(folder), options
        self.faults, self.count = [], 0
        self.folder.chmod(0o755)
        openssl(folder, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")

    def root(self, name):
        openssl(self.folder, "req", "-x509", "-new", "-key", "key.pem", "-subj", f"/CN={name} CA", "-days", 30, "-out", f"{name}.pem")

    def sign(self, name, *extensions, host=HOST, days=20, serial=None):
        """A certificate in NAME.pem, for the host unless the extensions say more."""
        (self.folder / "ext").write_text("\n".join(extensions or (f"subjectAltName=DNS:{host}",)))
        number = ["-set_serial", serial] if serial else ["-CAcreateserial"]
        openssl(self.folder, "req", "-new", "-key", "key.pem", "-subj", f"/CN={host}", "-out", "request.pem")
        openssl(self.folder, "x509", "-req", "-in", "request.pem", "-CA", "root.pem", "-CAkey", "key.pem", *number, "-days", days,
                "-extfile", "ext", "-out", f"{name}.pem")

    def start(self, *words):
        with open(self.folder / f"{Path(words[0]).name}.log", "ab") as log:
            children.start(list(map(str, words)), cwd=self.folder, stdout=log, stderr=log)

    def judge(self, what, port, wanted, options=(), words=""):
        """Probes a server, and compares the causes that are named, and words that have to be there."""
        run = subprocess.run([self.options.program, f"{HOST}:{port}", "@127.0.0.1", "--ca", self.folder / "root.pem", "--json", *options],
                             capture_output=True, text=True)
        record = json.loads(run.stdout.splitlines()[0]) if run.stdout else {}
        issues = record.get("faults", []) + record.get("warnings", [])
        ids = [issue["id"] for issue in issues]
        said = "; ".join(issue["text"] for issue in issues) + " | " + (record.get("hint") or "") + run.stderr
        holds = bool(record) and ids == wanted and words in said
        verdict = record.get("sni", {}).get("verdict")
        print(f"{'ok   ' if holds else 'FAIL '} {what}: {', '.join(ids) or 'passed'} ({verdict}) {said.strip()}", flush=True)
        self.count += 1
        if not holds:
            self.faults.append(what)
            print("      wanted", wanted, repr(words))
