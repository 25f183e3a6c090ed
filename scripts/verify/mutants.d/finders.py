"""The page that says who finds each planted fault: worlds, vectors or tests. Each run writes what it has found, and leaves the rest."""

import re
from pathlib import Path

PAGE = Path("docs/development/Found-faults.md")
FINDERS = ["worlds", "vectors", "tests"]
HEAD = """# Who finds a planted fault

`scripts/verify/mutants --worlds` writes which judge finds a fault of `known.py`, in which world (`not, 250`: in none of 250), and
which vectors do; `--known` writes what tests find. An empty cell has not been measured.

| fault | worlds | vectors | tests |
|---|---|---|---|
"""
ROW = re.compile(r"^\| (.+?) \| (.*?) ?\| (.*?) ?\| (.*?) ?\|$", re.M)


def read(root):
    """The cells of the page, by fault and finder."""
    page = root / PAGE
    rows = ROW.findall(page.read_text(encoding="utf-8").removeprefix(HEAD)) if page.is_file() else []
    return {name: dict(zip(FINDERS, cells)) for name, *cells in rows}


def write(root, faults, finder, found):
    """Writes what a finder has found of each fault; the rows are in the order of the table."""
    rows = read(root)
    for name, text in found.items():
        rows.setdefault(name, {})[finder] = text
    lines = [f"| {name} | " + " | ".join(rows[name].get(each, "") for each in FINDERS) + " |" for name in faults if name in rows]
    left = len(faults) - len(lines)
    rest = f"\n{left} faults of `known.py` have no row yet: a whole run takes an hour.\n" if left else ""
    (root / PAGE).write_text(HEAD + "\n".join(lines) + "\n" + rest, encoding="utf-8")
