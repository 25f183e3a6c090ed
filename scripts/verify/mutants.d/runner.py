"""Runs tests or simulated worlds with or without a fault, and reports what finds it."""

import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from known import SHOWN
from sources import VARIABLE


@dataclass
class Run:
    """The end of a test run."""

    # passed, failed, crashed or hung
    end: str
    # The first test that failed, or one that was running when the time limit was reached.
    test: str = ""
    seconds: float = 0
    failed: list = field(default_factory=list)

    @property
    def has_passed(self):
        return self.end == "passed"


class Events:
    """The events of a run, which the testing library writes line by line."""

    def __init__(self):
        self.rest = b""
        self.started, self.failed, self.has_ended = {}, [], False

    def take(self, bytes):
        *lines, self.rest = (self.rest + bytes).split(b"\n")
        for line in lines:
            try:
                self._note(json.loads(line).get("payload", {}))
            except json.JSONDecodeError:
                continue

    def _note(self, payload):
        kind, test = payload.get("kind"), payload.get("testID", "")
        # The identifiers of suites have no function and no line.
        if kind == "testStarted" and "(" in test:
            self.started[test] = True
        elif kind == "testEnded":
            self.started.pop(test, None)
        elif kind == "issueRecorded":
            issue = payload.get("issue", {})
            if not issue.get("isKnown") and issue.get("isFailure", True) and test not in self.failed:
                self.failed.append(test)
        elif kind == "runEnded":
            self.has_ended = True


class Tests:
    """The test program."""

    def __init__(self, program, folder, width):
        self.program = program
        self.folder = folder
        self.width = width
        self.known = {}
        self.lock = threading.Lock()

    def run(self, number, filters, limit, stops_early=True):
        """Runs the tests that match the filters (all without filters), and stops at the first failure."""
        with tempfile.TemporaryDirectory() as folder:
            pipe = str(Path(folder) / "events")
            os.mkfifo(pipe)
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            # Held open, because otherwise reading would end before the program has opened its end.
            writer = os.open(pipe, os.O_WRONLY)
            try:
                return self._run(number, filters, limit, stops_early, pipe, reader)
            finally:
                os.close(reader)
                os.close(writer)

    def _run(self, number, filters, limit, stops_early, pipe, reader):
        command = [
            str(self.program), "--testing-library", "swift-testing",
            "--event-stream-output-path", pipe, "--event-stream-version", "0",
            "--experimental-maximum-parallelization-width", str(self.width),
        ]
        for pattern in filters:
            command += ["--filter", pattern]
        begin = time.monotonic()
        process = subprocess.Popen(
            command, cwd=self.folder, env=dict(os.environ, **{VARIABLE: str(number)}), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        events = Events()
        try:
            while True:
                has_exited = process.poll() is not None
                while select.select([reader], [], [], 0 if has_exited else 0.1)[0]:
                    events.take(os.read(reader, 1 << 16))
                seconds = time.monotonic() - begin
                if events.failed and stops_early:
                    return Run("failed", events.failed[0], seconds, events.failed)
                if has_exited:
                    return self._judged(process.returncode, events, seconds)
                if seconds > limit:
                    return Run("hung", next(iter(events.started), ""), seconds, events.failed)
        finally:
            # Also ends the processes that its tests have started.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()

    def _judged(self, code, events, seconds):
        if events.failed:
            return Run("failed", events.failed[0], seconds, events.failed)
        if code == 0 and events.has_ended:
            return Run("passed", "", seconds)
        return Run("crashed", next(iter(events.started), ""), seconds)

    def pass_unmutated(self, filters, limit):
        """Whether the same tests pass without a mutant. Runs each set of tests once and remembers the result."""
        key = tuple(filters)
        with self.lock:
            known = self.known.get(key)
        if known is None:
            known = self.run(0, filters, limit).has_passed
            with self.lock:
                self.known[key] = known
        return known


def filter_of_suite(suite):
    return rf"\.{suite}/"


def filter_of_test(test):
    """Returns the filter for a test with the identifier `Target.Suite/function()/File.swift:1:2`."""
    return "^" + re.escape("/".join(test.split("/")[:-1])) + "/"


@dataclass
class Verdict:
    """The verdict on a mutant."""

    # noticed, survives or unsteady
    word: str
    test: str = ""
    note: str = ""

    @property
    def is_noticed(self):
        return self.word == "noticed"


class Judge:
    """Runs mutants. A failure counts if it occurs twice with the mutant and not without it."""

    def __init__(self, tests, limit, limit_of_all, runs_all):
        self.tests = tests
        self.limit = limit
        self.limit_of_all = limit_of_all
        self.runs_all = runs_all

    def judge(self, mutant):
        suites = [filter_of_suite(suite) for suite in mutant.suites]
        verdict = self._stage(mutant, suites, self.limit) if suites else None
        if verdict and verdict.is_noticed or suites and not self.runs_all:
            return verdict or Verdict("survives")
        later = self._stage(mutant, [], self.limit_of_all)
        if later and later.is_noticed:
            later.note = ("not by its suites" if suites else "") + (f", {later.note}" if later.note else "")
            return later
        return verdict or later or Verdict("survives")

    def _stage(self, mutant, filters, limit):
        doubtful = None
        for _ in range(3):
            run = self.tests.run(mutant.number, filters, limit)
            if run.has_passed:
                return doubtful
            verdict = self._confirmed(mutant, run, filters, limit)
            if verdict:
                return verdict
            doubtful = Verdict("unsteady", run.test, "failed once, but not when it was run again")
        return doubtful

    def _confirmed(self, mutant, run, filters, limit):
        if run.end != "failed":
            # It is unknown which test it was, so all of them are run again without the mutant.
            is_sound = self.tests.pass_unmutated(filters, limit)
            return Verdict("noticed", run.test, run.end) if is_sound else None
        alone = [filter_of_test(run.test)]
        again = self.tests.run(mutant.number, alone, limit)
        if again.has_passed or not self.tests.pass_unmutated(alone, limit):
            return None
        return Verdict("noticed", run.test, "hung" if again.end == "hung" else "")


# Without the tests

BATCHES = [25, 75, 150, 250, 500, 1000, 2000, 4000, 6000, 6000]


# What the client that plays vectors has not.
BEYOND_VECTORS = {"DirectResolvers", "DirectProxy", "DirectHTTPExtras"}


def by_worlds(copy, chosen, seeds, jobs, page):
    """Notes what worlds find of each fault, and looks whether the kept worlds show theirs. Without a fault all have to be silent."""
    program = copy.build_release("simulate")
    if found := search(program, 0, min(seeds, 1000)):
        sys.exit(f"mutants: without a fault there is: {found}")

    def look(mutant):
        judge, count = search(program, mutant.number, seeds) or ("not", f"{seeds:,}")
        page.note(mutant.name, "worlds", f"{judge}, {count}" + ("; a kept world" if mutant.name in SHOWN.values() else ""))
        print(f"{mutant.name}: {judge}, {count}", flush=True)
        return judge != "not"

    with ThreadPoolExecutor(jobs) as pool:
        count = sum(pool.map(look, chosen))
    print(f"mutants: {count} of {len(chosen)} found by worlds", flush=True)
    numbers = {mutant.name: mutant.number for mutant in chosen}
    mute = [name for name, fault in SHOWN.items() if fault in numbers and not shows(program, name, numbers[fault])]
    if mute:
        sys.exit(f"mutants: these worlds do not show their faults: {', '.join(mute)}")


def by_vectors(copy, chosen, table, page):
    """Notes which vectors fail with a fault, and pass without one."""
    program = copy.build_release("tls-fixtures")
    always = set(vectors(program, 0, []))
    for mutant in chosen:
        if BEYOND_VECTORS >= table.modules(mutant, copy.tree):
            page.note(mutant.name, "vectors", "–")
            continue
        # One fault at a time, because many have limits of time. One that fails once may have been late.
        failed = [name for name in vectors(program, mutant.number, []) if name not in always]
        sure = [name for name in failed[:4] if name in vectors(program, mutant.number, ["--name", name])][:2]
        some = ", ".join(f"`{name}`" for name in sure) + (f" and {len(failed) - 2} more" if sure and len(failed) > 2 else "")
        page.note(mutant.name, "vectors", some or "not")
        print(f"{mutant.name}: {some or 'not'}", flush=True)


def vectors(program, number, arguments):
    """The names of the vectors that fail with a fault."""
    command = [str(program), "run", "--failures", "--fixtures", "Fixtures", *arguments]
    try:
        run = subprocess.run(command, env=dict(os.environ, **{VARIABLE: str(number)}), capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return ["the program does not end"]
    return run.stdout.splitlines() or (["the program ends"] if run.returncode not in (0, 1) else [])


def shows(program, name, number):
    """Whether a judge finds a fault in a kept world. Without the fault `scripts/simulate` wants all judges to be silent."""
    command = [str(program), "--plan", f"Fixtures/worlds/{name}.json"]
    run = subprocess.run(command, env=dict(os.environ, **{VARIABLE: str(number)}), capture_output=True, text=True, timeout=60)
    return "\nFAULT " in run.stdout


def search(program, number, limit):
    """Runs worlds with a fault. Returns the judge that found it, and the number of seeds; `None` if no judge did."""
    first = 1000
    for size in BATCHES:
        size = min(size, limit - (first - 1000))
        if size <= 0:
            return None
        seeds = f"{first - 1000} to {first - 1000 + size}"
        command = [str(program), "--from", str(first), "--seeds", str(size)]
        # A fault may end the program, or keep it from ending: then it was noticed as well. How long that takes depends on what
        # else the machine does, unless the program waits for nothing.
        least = 60 + size
        try:
            run = subprocess.run(
                command, env=dict(os.environ, **{VARIABLE: str(number)}), capture_output=True, text=True, timeout=30 * least,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (least, least + 5)),
            )
        except subprocess.TimeoutExpired:
            return "the program does not end", seeds
        if hit := re.search(r"^seed (\d+)  ([^:]+):", run.stdout, re.M):
            return hit[2], int(hit[1]) - 1000 + 1
        if run.returncode == -signal.SIGXCPU:
            return "the program does not end", seeds
        if run.returncode not in (0, 1):
            return "the program ends", seeds
        first += size
    return None
