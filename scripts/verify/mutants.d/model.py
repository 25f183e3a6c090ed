"""Planted faults, the places of the sources where they are, and their insertion into a copy."""

import difflib
import re
from dataclasses import dataclass, field
from functools import cached_property

from swift_text import Lines, blanked, members

NAME = re.compile(r"([\w.]+)(\([\w:]*\))?")
TOKEN = re.compile(r"\w+|[^\w\s]")


class TableError(Exception):
    """An entry of the table that does not fit the sources."""


@dataclass(frozen=True)
class Found:
    """A piece of a file."""

    path: str
    start: int
    end: int


class Anchors:
    """The members of the sources, by their names. `sources` has the text of each file, by its path."""

    def __init__(self, sources):
        self.sources = sources
        self.members = [(path, member) for path, text in sources.items() for member in members(text)]
        self.named = {}
        for path, member in self.members:
            self.named.setdefault(member.path[-1], []).append((path, member))

    @cached_property
    def code(self):
        """The files without their comments; strings may be part of a fragment."""
        return {path: blanked(text, strings=False) for path, text in self.sources.items()}

    def find(self, where, at):
        """Returns the one piece that `at` marks in the members named `where`, as `Type.member` or `Type.member(label:)`.

        `at` is a fragment with two bars around the piece; whitespace does not count. Two bars alone mark the beginning of
        the member's body. Of the types around the member, those that tell it from others are enough.
        """
        match = NAME.fullmatch(where)
        if not match:
            raise TableError(f"'{where}' is not the name of a member")
        path, labels = tuple(match[1].split(".")), match[2]
        candidates = [
            (file, member)
            for file, member in self.named.get(path[-1], [])
            if member.path[-len(path):] == path and labels in (None, member.labels)
        ]
        found = [piece for file, member in candidates for piece in self._pieces(file, member, at)]
        if len(found) == 1:
            return found[0]
        if found:
            raise TableError(f"{where}: '{at}' is ambiguous: {', '.join(self._place(piece) for piece in found)}")
        wrong = f"{where}: '{at}' is not there" if candidates else f"no member is named {where}"
        raise TableError(f"{wrong}; {self._nearest(where, at, candidates)}")

    def _pieces(self, path, member, at):
        if not at.replace("|", "").strip():
            parts_of(at)
            return [Found(path, member.body, member.body)] if member.body < member.end else []
        found = pattern_of(at).finditer(self.code[path], member.start, member.end)
        return [Found(path, match.start("piece"), match.end("piece")) for match in found]

    def _nearest(self, where, at, candidates):
        """Where the fragment is now, or what is most similar to it or to the member's name."""
        moved = [one for one in self.members if at.strip("|") and self._pieces(*one, at)]
        if not moved and not candidates:
            names = {member.name: (path, member) for path, member in self.members}
            moved = [names[name] for name in difflib.get_close_matches(where.split("(")[0], names, 3, 0.5)]
        if moved or not candidates:
            titles = [f"{one.name}{one.labels} ({self._place(Found(path, one.start, one.start))})" for path, one in moved[:3]]
            return "look at " + (", ".join(titles) or "nothing similar")
        lines = [line.strip() for path, one in candidates for line in self.code[path][one.start:one.end].split("\n")]
        return f"the nearest is {difflib.get_close_matches(at.replace('|', ''), lines, 1, 0)}"

    def _place(self, piece):
        return f"{piece.path}:{Lines(self.code[piece.path]).number(piece.start)}"


def parts_of(at):
    """Returns the code before the marked piece, the piece, and the code after it."""
    parts = at.split("|")
    if len(parts) != 3:
        raise TableError(f"'{at}' needs two bars")
    return parts


def pattern_of(at):
    """An expression that finds the fragment whatever the whitespace between its words, with the piece as a group."""
    before, piece, behind = (r"\s*".join(re.escape(token) for token in TOKEN.findall(part)) for part in parts_of(at))
    if not piece:
        return re.compile(rf"{edge(at)}{before}(?P<piece>)" + (rf"\s*{behind}" if behind else ""))
    parts = [part for part in (before, f"(?P<piece>{piece})", behind) if part]
    # A piece is a whole expression, not the last names of one.
    start = r"(?<!\.)" if at.startswith("|") else ""
    return re.compile(start + edge(at) + r"\s*".join(parts) + edge(at[::-1]))


def edge(text):
    """A word at the edge of a fragment is a whole one."""
    return r"\b" if re.match(r"\w", text.replace("|", "")) else ""


@dataclass
class Mutant:
    """One change to the wiring of one member. Its number enables it at run time."""

    name: str
    members: tuple
    suites: tuple
    where: str
    number: int = 0


@dataclass
class Place:
    """A place in the sources where a mutant computes another value; docs/development/Mutants.md describes `where` and `at`."""

    where: str
    at: str
    becomes: str
    mutant: Mutant


@dataclass
class Door:
    """A place through which all values of a type pass before they are used.

    The function `mutated` is called there. A mutant of a door replaces the value of one member.
    """

    swift_type: str
    where: str
    at: str
    becomes: str
    mutants: list = field(default_factory=list)


class Table:
    """All mutants, in the order of their numbers."""

    def __init__(self):
        self.mutants, self.places, self.doors, self.exceptions = [], [], [], {}

    def place(self, name, where, at, becomes, suites, members=None):
        """Adds a mutant at one place. Without `members` its name begins with the member."""
        self.places.append(Place(where, at, becomes, self._add(name, members, suites, where)))

    def fault(self, name, suites, *places):
        """Adds a fault that the client once had, at one place or at several: a member, a fragment, and what it becomes."""
        mutant = self._add(name, (name,), suites, places[0][0])
        self.places += [Place(*place, mutant) for place in places]

    def door(self, type, where, at, becomes, suites, value=None, name=None, statement="value.{0} = {1}().{0}"):
        """Adds mutants that replace the values of members at a door. `suites` maps the suites to their members.

        A member gets its default, or what is behind an equals sign, or what `statement` says.
        """
        door = Door(value or type, where, at, becomes)
        self.doors.append(door)
        for notice, members in suites.items():
            for member in re.findall(r"\w+(?: = .*)?", members) if "=" in members else members.split():
                member, _, other = member.partition(" = ")
                mutant = self._add(f"{name or type}.{member}", (f"{type}.{member}",), notice, where)
                door.mutants.append((mutant, f"value.{member} = {other}" if other else statement.format(member, value or type)))

    def exempt(self, member, reason):
        """Adds a member that needs no mutant, with the reason."""
        self.exceptions[member] = reason

    def _add(self, name, members, suites, where):
        members = members or (re.split(r"[ ,]", name)[0],)
        members = tuple(members.split()) if isinstance(members, str) else tuple(members)
        mutant = Mutant(name, members, tuple(suites.split()), where, len(self.mutants) + 1)
        if any(other.name == name for other in self.mutants):
            raise TableError(f"two mutants have the name {name}")
        self.mutants.append(mutant)
        return mutant

    def faults(self, tree):
        """Returns the faults of the table, compared with the sources, as sentences."""
        known, excepted = set(tree.members), set(self.exceptions)
        covered = {member for mutant in self.mutants for member in mutant.members}
        return [
            *self.misplaced(tree),
            *(f"{member} has neither a mutant nor a reason for an exemption" for member in sorted(known - covered - excepted)),
            *(f"{member} is in the table, but is not a public member" for member in sorted((covered | excepted) - known)),
            *(f"{member} has a mutant and a reason for an exemption" for member in sorted(covered & excepted)),
        ]

    def misplaced(self, tree):
        """Returns why the places and the suites of the table are not found, as sentences."""
        faults = [
            f"{mutant.name}: the suite {suite} does not exist" for mutant in self.mutants for suite in mutant.suites if suite not in tree.suites
        ]
        for entry in self.places + self.doors:
            try:
                tree.anchors.find(entry.where, entry.at)
            except TableError as error:
                faults.append(str(error))
        return faults

    def modules(self, mutant, tree):
        """The modules that a mutant of places changes."""
        paths = {tree.anchors.find(place.where, place.at).path for place in self.places if place.mutant == mutant}
        return {path.split("/")[1] for path in paths}

    def mutated_sources(self, tree):
        """Returns the text of each file that contains mutants, by path."""
        pieces = {}
        for entry in self.places + self.doors:
            found = tree.anchors.find(entry.where, entry.at)
            pieces.setdefault(found.path, {}).setdefault((found.start, found.end), []).append(entry)
        return {path: self._edit(tree.text(path), edits, path) for path, edits in pieces.items()}

    def _edit(self, text, edits, path):
        result, position = "", 0
        for (start, end), entries in sorted(edits.items(), key=lambda edit: edit[0]):
            if start < position:
                raise TableError(f"two marked pieces of {path} overlap near '{text[start:end]}'")
            result += text[position:start] + replacement(text[start:end], entries)
            position = end
        return result + text[position:]


def replacement(piece, entries):
    """Returns the code that replaces a piece that some mutants change."""
    if any(isinstance(entry, Door) for entry in entries):
        if len(entries) > 1:
            raise TableError(f"a door cannot share its place: '{piece}'")
        return entries[0].becomes
    if not piece:
        return "".join(f" if mutant == {entry.mutant.number} {{ {entry.becomes} }}" for entry in entries)
    chain = "".join(f"mutant == {entry.mutant.number} ? {entry.becomes} : " for entry in entries)
    return f"({chain}{piece})"


def door_function(door):
    """Returns the Swift function that a door calls."""
    cases = "".join(f"    case {mutant.number}: {statement}\n" for mutant, statement in door.mutants)
    return f"""
func mutated(_ original: {door.swift_type}) -> {door.swift_type} {{
    var value = original
    switch mutant {{
{cases}    default: break
    }}
    return value
}}
"""
