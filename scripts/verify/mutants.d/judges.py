"""Judges faults without the tests: those of the client by simulated worlds, those of a small client in Python by vectors."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sources import VARIABLE

HERE = Path(__file__).resolve().parent
BATCHES = [250, 250, 500, 1000, 2000, 4000, 6000, 6000]
TOPICS = ["values", "proxy", "auth", "exchange", "eyeballs"]


def by_worlds(copy, chosen, seeds, jobs):
    """Prints which judge finds each fault, and after how many seeds. Without a fault the judges have to be silent.

    The program is built once, and each run enables the fault whose number is in the environment."""
    program = copy.build_part("-c", "release", "--product", "simulate") / "simulate"
    found = search(program, 0, min(seeds, 1000))
    if found:
        sys.exit(f"mutants: without a fault the judges say: {found}")
    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda mutant: search(program, mutant.number, seeds), chosen))
    print("| fault | found by | after seeds |\n|---|---|---|")
    for mutant, result in zip(chosen, results):
        name, count = result or ("not found", f"more than {seeds:,}")
        print(f"| {mutant.name} | {name} | {count} |")
    missed = sum(1 for result in results if not result)
    print(f"mutants: {len(chosen) - missed} of {len(chosen)} found by worlds")


def search(program, number, limit):
    """Runs worlds with a fault. Returns the judge that found it and the number of seeds; None if no judge did."""
    first = 1000
    for size in BATCHES:
        size = min(size, limit - (first - 1000))
        if size <= 0:
            return None
        seeds = f"{first - 1000} to {first - 1000 + size}"
        command = [str(program), "--from", str(first), "--seeds", str(size)]
        # A fault may end the program, or keep it from ending: then it was noticed as well.
        try:
            run = subprocess.run(command, env=dict(os.environ, **{VARIABLE: str(number)}), capture_output=True, text=True, timeout=60 + size)
        except subprocess.TimeoutExpired:
            return "the program does not end", seeds
        if hit := re.search(r"^seed (\d+)  ([^:]+):", run.stdout, re.M):
            return hit[2], int(hit[1]) - 1000 + 1
        if run.returncode not in (0, 1):
            return "the program ends", seeds
        first += size
    return None


def by_vectors(names, shows_all):
    """The client of client.py with one fault at a time has to fail the vectors that faults.json names for it. First it runs
    without a fault and has to pass all that it can do. Returns whether something is wrong."""
    faults = json.loads((HERE / "faults.json").read_text())
    if unknown := [name for name in names if name not in faults and name != "none"]:
        sys.exit(f"there is no fault {', '.join(unknown)}")
    is_wrong = False
    for name in names or ["none", *faults]:
        failed, wanted = failed_vectors(name), set(faults.get(name, []))
        if shows_all:
            print(f"{name}: {json.dumps(sorted(failed), ensure_ascii=False)}")
            continue
        missed = sorted(failed if name == "none" else wanted - failed)
        is_wrong |= bool(missed)
        word = "fails without a fault" if name == "none" else "not found by"
        print(f"{name}: {len(wanted & failed)} of {len(wanted)} vectors" + (f"; {word}: {'; '.join(missed)}" if missed else ""), flush=True)
    return is_wrong


def failed_vectors(fault):
    """The names of the vectors that the client fails."""
    client = f"python3 {HERE / 'client.py'} {fault} --jobs"
    done = subprocess.run([HERE.parents[1] / "vectors", *TOPICS, "--client", client, "--json"], capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not rows or "totals" not in rows[-1] or rows[-1]["totals"]["broken"]:
        sys.exit(f"{fault}: the run ended with {done.returncode}: {done.stderr.strip() or rows}")
    return {row["name"] for row in rows if row.get("outcome") in ("failed", "differs")}
