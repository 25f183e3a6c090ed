"""Finds the places of mutants: a type, a member of it, and a fragment of code inside the member."""

import difflib
import re
from dataclasses import dataclass
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
    """The members of the sources, by their names."""

    def __init__(self, sources):
        """`sources` has the text of each file, by its path."""
        self.sources = sources

    @cached_property
    def members(self):
        return [(path, member) for path, text in self.sources.items() for member in members(text)]

    @cached_property
    def code(self):
        """The files without their comments; strings may be part of a fragment."""
        return {path: blanked(text, strings=False) for path, text in self.sources.items()}

    @cached_property
    def by_last_name(self):
        named = {}
        for path, member in self.members:
            named.setdefault(member.path[-1], []).append((path, member))
        return named

    def find(self, where, at):
        """Returns the one piece that `at` marks in the members named `where`, as `Type.member` or `Type.member(label:)`.

        `at` is a fragment with two bars around the piece; whitespace does not count. Two bars alone mark the beginning of
        the member's body. Of the types around the member, those that tell it from others are enough.
        """
        candidates = self._named(where)
        if not candidates:
            raise TableError(f"no member is named {where}; {self._nearest_member(where, at)}")
        found = [piece for path, member in candidates for piece in self._pieces(path, member, at)]
        if len(found) == 1:
            return found[0]
        if found:
            raise TableError(f"{where}: '{at}' is ambiguous: {', '.join(self._place(piece) for piece in found)}")
        raise TableError(f"{where}: '{at}' is not there; {self._nearest_code(candidates, at)}")

    def _named(self, where):
        match = NAME.fullmatch(where)
        if not match:
            raise TableError(f"'{where}' is not the name of a member")
        path, labels = tuple(match[1].split(".")), match[2]
        return [
            (file, member)
            for file, member in self.by_last_name.get(path[-1], [])
            if member.path[-len(path):] == path and labels in (None, member.labels)
        ]

    def _pieces(self, path, member, at):
        if not at.replace("|", "").strip():
            split(at)
            return [Found(path, member.body, member.body)] if member.body < member.end else []
        pattern = pattern_of(at)
        return [
            Found(path, match.start("piece"), match.end("piece"))
            for match in pattern.finditer(self.code[path], member.start, member.end)
        ]

    def _nearest_member(self, where, at):
        moved = [(path, member) for path, member in self.members if at.strip("|") and self._pieces(path, member, at)]
        if moved:
            return "the fragment is in " + ", ".join(self._title(*one) for one in moved[:3])
        names = {member.name: (path, member) for path, member in self.members}
        near = difflib.get_close_matches(where.split("(")[0], names, 3, 0.5)
        return "the nearest are " + ", ".join(self._title(*names[name]) for name in near) if near else "nor a similar one"

    def _nearest_code(self, candidates, at):
        moved = [(path, member) for path, member in self.members if self._pieces(path, member, at)]
        if moved:
            return "it is in " + ", ".join(self._title(*one) for one in moved[:3])
        lines = {
            line.strip(): f"{path}:{number}"
            for path, member in candidates
            for number, line in enumerate(
                self.code[path][member.start:member.end].split("\n"), Lines(self.code[path]).number(member.start)
            )
        }
        near = difflib.get_close_matches(at.replace("|", ""), lines, 1, 0)
        return f"the nearest is '{near[0]}' ({lines[near[0]]})" if near else "the member is empty"

    def _title(self, path, member):
        return f"{member.name}{member.labels} ({self._place(Found(path, member.start, member.start))})"

    def _place(self, piece):
        return f"{piece.path}:{Lines(self.code[piece.path]).number(piece.start)}"


def split(at):
    """Returns the code before the marked piece, the piece, and the code after it."""
    parts = at.split("|")
    if len(parts) != 3:
        raise TableError(f"'{at}' needs two bars")
    return parts


def pattern_of(at):
    """An expression that finds the fragment whatever the whitespace between its words, with the piece as a group."""
    before, piece, behind = (spaced(part) for part in split(at))
    if not piece:
        return re.compile(rf"{edge(at)}{before}(?P<piece>)" + (rf"\s*{behind}" if behind else ""))
    parts = [part for part in (before, f"(?P<piece>{piece})", behind) if part]
    return re.compile(edge(at) + r"\s*".join(parts) + edge(at[::-1]))


def spaced(code):
    return r"\s*".join(re.escape(token) for token in TOKEN.findall(code))


def edge(text):
    """A word at the edge of a fragment is a whole one."""
    return r"\b" if re.match(r"\w", text.replace("|", "")) else ""
