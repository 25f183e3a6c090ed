"""Mutants, and their insertion into the sources of the copy."""

import re
from dataclasses import dataclass, field

from anchors import TableError


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
    """A place in the sources where a mutant computes another value.

    `where` names a member, as `Type.member`. `at` is a fragment of its code that occurs in it exactly once, with two bars
    around the expression that the mutant replaces. Two adjacent bars mark a place where the mutant runs a statement;
    alone they are the beginning of the member's body.
    """

    where: str
    at: str
    becomes: str
    mutant: Mutant


@dataclass
class Door:
    """A place through which all values of a type pass before they are used.

    The function `mutated` is called there. A mutant of a door replaces the value of one member.
    """

    type: str
    where: str
    at: str
    becomes: str
    value: str = ""
    mutants: list = field(default_factory=list)

    @property
    def swift_type(self):
        return self.value or self.type


class Table:
    """All mutants, in the order of their numbers."""

    def __init__(self):
        self.mutants = []
        self.places = []
        self.doors = []
        self.exceptions = {}

    def place(self, name, where, at, becomes, suites, members=None):
        """Adds a mutant at one place. Without `members` its name begins with the member."""
        mutant = self._add(name, members, suites, where)
        self.places.append(Place(where, at, becomes, mutant))

    def door(self, type, where, at, becomes, members, value="", default=None, name=None):
        """Adds mutants that replace the values of members at a door.

        `members` maps a member to its suites, or to its suites and the statement that changes its value. Without one
        the member gets its value in `default`.
        """
        door = Door(type, where, at, becomes, value)
        self.doors.append(door)
        for member, entry in members.items():
            suites, statement = entry if isinstance(entry, tuple) else (entry, None)
            mutant = self._add(f"{name or type}.{member}", (f"{type}.{member}",), suites, where)
            door.mutants.append((mutant, statement or f"value.{member} = {default or type + '()'}.{member}"))

    def exempt(self, members, reason):
        """Adds members that need no mutant, with the reason."""
        for member in members.split():
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
        faults = self.misplaced(tree)
        known = set(tree.members)
        covered = {member for mutant in self.mutants for member in mutant.members}
        for member in sorted(known - covered - set(self.exceptions)):
            faults.append(f"{member} has neither a mutant nor a reason for an exemption")
        for member in sorted((covered | set(self.exceptions)) - known):
            faults.append(f"{member} is in the table, but is not a public member")
        for member in sorted(covered & set(self.exceptions)):
            faults.append(f"{member} has a mutant and a reason for an exemption")
        for mutant in self.mutants:
            for suite in mutant.suites:
                if suite not in tree.suites:
                    faults.append(f"{mutant.name}: the suite {suite} does not exist")
        return faults

    def misplaced(self, tree):
        """Returns why the places of the table are not found, as sentences."""
        faults = []
        for entry in self.places + self.doors:
            try:
                tree.anchors.find(entry.where, entry.at)
            except TableError as error:
                faults.append(str(error))
        return faults

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
    cases = "".join(
        f"    case {mutant.number}: {statement}\n" for mutant, statement in door.mutants
    )
    return f"""
func mutated(_ original: {door.swift_type}) -> {door.swift_type} {{
    var value = original
    switch mutant {{
{cases}    default: break
    }}
    return value
}}
"""
