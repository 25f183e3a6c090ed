#!/usr/bin/env python3
"""Checks that what is public has a place in a group: places.py FOLDER MODULE…

Each outermost type must be on its module's page. Where a type has a page of groups, each of its members must be on it.
DocC lists the others by alphabet below all groups, where nobody looks for them.
"""

import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
# Requirements of protocols of the library, which have no place of their own.
LEFT_OUT = {"customMirror", "description"}


def main(folder, *modules):
    absent = [f"{place}: {name}" for module in modules for place, name in missing(Path(folder), module)]
    if absent:
        sys.exit("docs: these are in no group of their page\n" + "\n".join(f"  {each}" for each in absent))


def missing(folder, module):
    symbols = json.loads((folder / f"{module}.symbols" / f"{module}.symbols.json").read_text())["symbols"]
    paths = {tuple(each["pathComponents"]) for each in symbols}
    for page in (ROOT / "Sources" / module / f"{module}.docc").glob("*.md"):
        text = page.read_text()
        title = re.match(r"# ``(.*)``", text)
        if title is None:
            continue
        outer = tuple(title[1].split("/")[1:])
        listed = {name.split("/")[-1] for name in re.findall(r"^- ``([^`]+?)(?:-\(.*\))?``", text, re.M)}
        for path in sorted(paths):
            if path[:-1] == outer and path[-1] not in listed | LEFT_OUT:
                yield title[1], path[-1]


if __name__ == "__main__":
    main(*sys.argv[1:])
