#!/usr/bin/env python3
"""Prints llvm-cov's summary, read from standard input, by module: table.py [--files]"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
ENOUGH = 90


def main(*options):
    files = json.load(sys.stdin)["data"][0]["files"]
    modules, weak = {}, []
    for file in files:
        path = Path(file["filename"])
        yard, module = [*path.relative_to(ROOT).parts, "", ""][:2] if path.is_relative_to(ROOT) else ("", "")
        if yard not in ("Sources", "Commands"):
            continue
        lines = file["summary"]["lines"]
        if not lines["count"]:
            continue
        count, covered = modules.get(module, (0, 0))
        modules[module] = (count + lines["count"], covered + lines["covered"])
        if lines["percent"] < ENOUGH:
            weak.append((lines["percent"], lines["count"] - lines["covered"], path.relative_to(ROOT)))
    print("| module | lines | executed |\n|---|---|---|")
    rows = sorted(modules.items()) + [("in all", tuple(map(sum, zip(*modules.values()))))]
    for module, (count, covered) in rows:
        print(f"| {module} | {count:,} | {100 * covered / count:.1f} % |")
    if "--files" in options:
        print("\nless than 90 %:")
        for percent, missing, path in sorted(weak):
            print(f"  {percent:5.1f} %  {missing:4} lines  {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
