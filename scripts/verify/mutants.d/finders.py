"""The page that says who finds each planted fault: worlds, vectors or tests. Each run writes what it has found, and leaves the rest."""

import re
import threading
from pathlib import Path

PAGE = Path("docs/development/Found-faults.md")
FINDERS = ["worlds", "vectors", "tests"]
HEAD = """# Who finds a planted fault

`scripts/verify/mutants --worlds` writes which judge finds a fault of `known.py`, in which world (`not, 250`: in none of 250),
`--vectors` which vectors do, `--known` which test. An empty cell has not been measured. With `--suites-only` the tests are those that
`known.py` names. Vectors are played by a client without resolvers, proxy and extras: their faults have a dash.

`with its word`: only worlds whose plan has what the fault is about were run (`scripts/simulate --with`); without these words the
number is that of the world in the whole mix. Worlds hardly tell two of the faults that they have not found: to the judges a reset
and an end are one kind of error, and a simulated thread does its work on a file at one moment. Tests cannot tell three: no power
fails in them, Linux gives a draft no name where they run, and one needs a moment that only its kept world has.

| fault | worlds | vectors | tests |
|---|---|---|---|
"""
ROW = re.compile(r"^\| (.+?) \| (.*?) ?\| (.*?) ?\| (.*?) ?\|$", re.M)


class Page:
    """The page. It is written with each finding: a run takes an hour, and may not come to its end."""

    def __init__(self, root, faults):
        self.path, self.faults, self.lock = root / PAGE, faults, threading.Lock()

    def rows(self):
        """The cells of the page, by fault and finder."""
        rows = ROW.findall(self.path.read_text(encoding="utf-8")) if self.path.is_file() else []
        return {name: dict(zip(FINDERS, cells)) for name, *cells in rows}

    def has(self, name, finder):
        return bool(self.rows().get(name, {}).get(finder))

    def note(self, name, finder, text):
        """Writes who has found a fault, unless it is one of the table of settings. The rows are in the order of `known.py`."""
        with self.lock:
            if name not in self.faults:
                return
            rows = self.rows()
            rows.setdefault(name, {})[finder] = text
            lines = [" | ".join([f"| {one}", *(rows[one].get(who, "") for who in FINDERS)]) + " |" for one in self.faults if one in rows]
            left = len(self.faults) - len(lines)
            rest = f"\n{left} faults of `known.py` have no row yet: a whole run takes an hour.\n" if left else ""
            self.path.write_text(HEAD + "\n".join(lines) + "\n" + rest, encoding="utf-8")
