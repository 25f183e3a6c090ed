"""What the scripts share that judge sni-probe beside real and odd servers: certificates, processes, and verdicts."""

import argparse
import atexit
import json
import socket
import subprocess
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
HOST = "www.example.com"


def openssl(folder, *words):
    return subprocess.run(["openssl", *map(str, words)], cwd=folder, check=True, capture_output=True, text=True).stdout


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as holder:
        return holder.getsockname()[1]


def wait_for(port, address="127.0.0.1", seconds=20):
    end = time.monotonic() + seconds
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
        self.children, self.faults, self.count = [], [], 0
        atexit.register(self.stop)
        self.folder.chmod(0o755)
        openssl(folder, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")

    def root(self, name, *more, key="key.pem"):
        openssl(self.folder, "req", "-x509", "-new", "-key", key, "-subj", f"/CN={name} CA", "-days", 30, "-out", f"{name}.pem", *more)

    def sign(self, name, *extensions, by="root", host=HOST, days=20, key="key.pem", by_key="key.pem", serial=None):
        """A certificate in NAME.pem, for the host unless the extensions say more."""
        (self.folder / "ext").write_text("\n".join(extensions or (f"subjectAltName=DNS:{host}",)))
        number = ["-set_serial", serial] if serial else ["-CAcreateserial"]
        openssl(self.folder, "req", "-new", "-key", key, "-subj", f"/CN={host}", "-out", "request.pem")
        openssl(self.folder, "x509", "-req", "-in", "request.pem", "-CA", f"{by}.pem", "-CAkey", by_key, *number, "-days", days,
                "-extfile", "ext", "-out", f"{name}.pem")

    def start(self, *words):
        with open(self.folder / f"{Path(words[0]).name}.log", "ab") as log:
            child = subprocess.Popen(list(map(str, words)), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.children.append(child)

    def stop(self):
        for child in self.children:
            child.terminate()
        for child in self.children:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def judge(self, what, port, wanted, options=(), target=HOST, words="", never="", root="root", most=20):
        """Probes a server, and compares the causes that are named, words that have to be there, and words that blame another."""
        target = target.format(port=port) if "{port}" in target else f"{target}:{port}"
        place = [] if "--resolver" in options else ["@127.0.0.1"]
        start = time.monotonic()
        run = subprocess.run([self.options.program, target, *place, "--ca", self.folder / f"{root}.pem", "--json", *options],
                             capture_output=True, text=True)
        took = time.monotonic() - start
        record = json.loads(run.stdout.splitlines()[0]) if run.stdout else {}
        issues = record.get("faults", []) + record.get("warnings", [])
        ids = [issue["id"] for issue in issues]
        said = "; ".join(issue["text"] for issue in issues) + " | " + (record.get("hint") or "") + run.stderr
        holds = bool(record) and ids == wanted and words in said and not (never and never in said) and took < most
        verdict = record.get("sni", {}).get("verdict")
        print(f"{'ok   ' if holds else 'FAIL '} {what}: {', '.join(ids) or 'passed'} ({verdict}, {took:.1f} s) {said.strip()}", flush=True)
        self.count += 1
        if not holds:
            self.faults.append(what)
            print("      wanted", wanted, repr(words), "never", repr(never))


def options(text, *more):
    """The options: the program, and more, each with its name and what argparse is told of it."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(REPOSITORY / ".build/checked/debug/sni-probe"))
    for name, facts in more:
        parser.add_argument(name, **facts)
    return parser.parse_args()


def run(parts, options, make=Lab):
    """Runs each part in a laboratory of its own. Returns 1 if a verdict is wrong."""
    faults, count = [], 0
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            lab = make(folder, options)
            try:
                part(lab)
            finally:
                lab.stop()
            faults, count = faults + lab.faults, count + lab.count
    print(f"{count} verdicts, {len(faults)} wrong")
    return 1 if faults else 0
