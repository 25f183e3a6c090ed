"""The main program of scripts/verify/soak, which builds the load and installs the peers."""

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
LOAD = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(LOAD), str(LOAD.parent.parent / "Benchmarks")]

from harness import children  # noqa: E402
from trouble.figures import FULL_WARM_UP  # noqa: E402
from trouble.world import World  # noqa: E402

MOST_SHOWN = 20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("--callers", type=int, default=16)
    parser.add_argument("--program", required=True)
    parser.add_argument("--proxy", required=True)
    parser.add_argument("--peers", required=True)
    options = parser.parse_args()
    seconds = options.minutes * 60
    children.end_on_signals()
    print(f"soak: {options.minutes:g} min, seed {options.seed}, peers {options.peers.replace(',', ', ')}", flush=True)
    try:
        figures = run(options, seconds)
    except children.BenchError as error:
        sys.exit(f"soak: {error}")
    print(figures.table())
    if found := figures.faults_found():
        more = [f"{len(found) - MOST_SHOWN} more"] if len(found) > MOST_SHOWN else []
        sys.exit("\n".join(f"soak: {each}" for each in found[:MOST_SHOWN] + more))
    print("soak: no fault found")


def run(options, seconds):
    with tempfile.TemporaryDirectory(prefix="direct-http-soak-") as folder:
        try:
            world = World(Path(folder), options.seed, (options.program, options.proxy), options.peers.split(","), options.callers)
            return world.run(seconds, warm_up=min(FULL_WARM_UP, seconds / 3))
        finally:
            children.stop_all()


if __name__ == "__main__":
    main()
