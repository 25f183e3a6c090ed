"""Judges faults by simulated worlds: the program is built once, and each run enables the fault whose number is in the environment."""

import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import known
from sources import VARIABLE

# The mutants are drawn with this seed, and not chosen.
SEED = 20261122
DRAWN = 10
BATCHES = [250, 250, 500, 1000, 2000, 4000, 6000, 6000]


def chosen_faults(table):
    """Adds the known faults to the table, and returns them with ten mutants."""
    drawn = random.Random(SEED).sample(list(table.mutants), DRAWN)
    count = len(table.mutants)
    known.add_to(table)
    return table.mutants[count:] + sorted(drawn, key=lambda mutant: mutant.number)


def judge(copy, chosen, seeds, jobs):
    """Prints which judge finds each fault, and after how many seeds. Without a fault the judges have to be silent."""
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
        environment = dict(os.environ, **{VARIABLE: str(number)})
        command = [str(program), "--from", str(first), "--seeds", str(size)]
        # A fault may end the program, or keep it from ending: then it was noticed as well.
        try:
            run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60 + size)
        except subprocess.TimeoutExpired:
            return "the program does not end", f"{first - 1000} to {first - 1000 + size}"
        hit = re.search(r"^seed (\d+)  ([^:]+):", run.stdout, re.M)
        if hit:
            return hit[2], int(hit[1]) - 1000 + 1
        if run.returncode not in (0, 1):
            return "the program ends", f"{first - 1000} to {first - 1000 + size}"
        first += size
    return None
