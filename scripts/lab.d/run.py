"""Runs the cases of scripts/lab, each in a process group and namespaces of its own, and leaves nothing behind.

The cases are the functions in the files of `cases` that `kit.case` marks.
"""

import concurrent.futures
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import kit

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "cases"))
PRIVATE = ["unshare", "--mount", "--propagation", "private"]
SPACES = {None: [], "mount": PRIVATE, "net": [*PRIVATE, "--net"]}
SECONDS_FOR_A_CASE = 45
SECONDS_IN_CI = 110


def sentence(name):
    return " ".join(kit.CASES[name].__doc__.split())


def requirements(name):
    """The command that gives a case its namespaces, and why the case cannot run here; None if it can."""
    case = kit.CASES[name]
    space = SPACES[case.space]
    if space and os.geteuid():
        # An ordinary user has them inside a user namespace.
        space = [*space, "--user", "--map-root-user"]
    if case.root and os.geteuid():
        return space, "needs root"
    for tool in [*case.tools, "setpriv", *space[:1]]:
        if not shutil.which(tool):
            return space, f"there is no {tool}"
    trial = subprocess.run([*space, "true"], capture_output=True, text=True)
    return space, f"no namespaces: {trial.stderr.strip()}" if trial.returncode else None


class Runner:
    def __init__(self, budget):
        self.end = time.monotonic() + budget
        self.folder = Path(tempfile.mkdtemp(prefix="direct-http-lab-"))
        self.folder.chmod(0o755)
        self.groups = kit.control_groups(self.folder.name)
        self.running, self.lock, self.is_closed = set(), threading.Lock(), False

    def outcome(self, name):
        """A word (ok, FAIL, skipped) and what was seen."""
        space, reason = requirements(name)
        left = min(SECONDS_FOR_A_CASE, self.end - time.monotonic())
        if reason or left <= 0:
            return "skipped", reason or "the time was over"
        process = self.start(name, space)
        if not process:
            return "skipped", "interrupted"
        try:
            text = process.communicate(timeout=left)[0].strip()
        except subprocess.TimeoutExpired:
            return "FAIL", f"did not end in {left:.0f} s"
        finally:
            self.kill(process)
            process.wait()
        return {0: "ok", kit.SKIPPED: "skipped"}.get(process.returncode, "FAIL"), text

    def start(self, name, space):
        folder = self.folder / name
        variables = {"PATH": os.environ["PATH"], "LC_ALL": "C", "LAB_FOLDER": str(folder), "LAB_CLIENT": kit.CLIENT}
        with self.lock:
            if self.is_closed:
                return None
            folder.mkdir(mode=0o755)
            process = subprocess.Popen(
                [*kit.BOUND, *space, sys.executable, "-B", __file__, "--case", name], env=variables, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            )
            self.running.add(process)
            return process

    def kill(self, process):
        """Kills a case with all that it has started."""
        with self.lock:
            self.running.discard(process)
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def close(self, pool):
        with self.lock:
            self.is_closed = True
        for process in list(self.running):
            self.kill(process)
        pool.shutdown(cancel_futures=True)
        # What was killed takes a moment to be gone: a control group is removed when it is empty, a folder when nothing writes.
        end = time.monotonic() + 5
        while any(path.exists() for path in [self.folder, *self.groups]) and time.monotonic() < end:
            shutil.rmtree(self.folder, ignore_errors=True)
            for path in self.groups:
                try:
                    path.rmdir()
                except OSError:
                    time.sleep(0.02)


def run_all(names, budget):
    runner, pool = Runner(budget), concurrent.futures.ThreadPoolExecutor(3)
    outcomes = {}
    try:
        for name, future in [(name, pool.submit(runner.outcome, name)) for name in names]:
            word, seen = outcomes[name] = future.result()
            print(f"{word:8}{name:20}{sentence(name)}", *seen.splitlines(), sep="\n" + " " * 28, flush=True)
    finally:
        runner.close(pool)
    skipped = [f"{name}: {seen}" for name, (word, seen) in outcomes.items() if word == "skipped"]
    print(f"lab: {len(names) - len(skipped)} run, {len(skipped)} skipped", *skipped, sep="\n     ")
    failed = [name for name, (word, _) in outcomes.items() if word == "FAIL"]
    sys.exit(f"lab: failed: {' '.join(failed)}" if failed else 0)


def run_case(name):
    try:
        print(kit.CASES[name]() or "")
    except (kit.Skipped, kit.Wrong) as seen:
        print(seen)
        sys.exit(kit.SKIPPED if isinstance(seen, kit.Skipped) else 1)


def main(words):
    sys.dont_write_bytecode = True
    for path in (HERE / "cases").glob("*.py"):
        importlib.import_module(path.stem)
    names = sorted(kit.CASES)
    if words[:1] == ["--case"]:
        run_case(words[1])
    elif words == ["--list"]:
        print("\n".join(f"{name:20}{sentence(name)}" for name in names))
    elif words in ([], ["--ci"]):
        run_all(names, SECONDS_IN_CI if words else float("inf"))
    elif set(words) <= set(names):
        run_all(words, float("inf"))
    else:
        sys.exit(f"lab: unknown: {' '.join(word for word in words if word not in names)}")


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    main(sys.argv[1:])
