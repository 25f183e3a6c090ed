"""The checkout: its files and public members, and the copy of it that is built."""

import os
import re
import shutil
import subprocess
from functools import cached_property
from pathlib import Path

from model import Anchors, door_function
from swift_text import members

# The types whose members must have mutants. Types nested in them count as well.
TYPES = {
    "HTTPClient.Configuration", "Request", "Timeouts", "TLSSettings", "Proxy", "ProxySettings", "RetryPolicy",
    "RedirectPolicy", "DecodingSettings", "HTTPTransaction", "CallReport", "CallEvent",
}
VARIABLE = "DIRECT_HTTP_MUTANT"

SWITCH = f"""#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Which of the mutants is at work; none if it is 0.
let mutant: Int = unsafe getenv("{VARIABLE}").flatMap {{ unsafe Int(String(cString: $0)) }} ?? 0
/// What a mutant knows of a connection, from one of its places to the next.
nonisolated(unsafe) var mutantNotes: [ObjectIdentifier: UInt64] = [:]
"""

# Where code that is mutated may be.
YARDS = ("Sources/", "Commands/")

# Members that many types have and that carry no setting.
UNWIRED = {"description", "debugDescription", "customMirror", "hash", "init", "subscript"}
# Settings that only the package sets; other members of this level are not settings.
OWN_SETTINGS = {"DecodingSettings.maximumCodings", "DecodingSettings.unratedSize", "RedirectPolicy.isFollowing"}


class Tree:
    """The files of the checkout, including uncommitted ones."""

    def __init__(self, root):
        self.root = root

    @cached_property
    def files(self):
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=self.root, check=True, capture_output=True, text=True,
        ).stdout
        return sorted(name for name in listed.split("\0") if name and (self.root / name).is_file())

    @cached_property
    def anchors(self):
        """The members of the sources that are mutated."""
        names = [name for name in self.files if name.startswith(YARDS) and name.endswith(".swift") and ".docc/" not in name]
        return Anchors({name: self.text(name) for name in names})

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    @cached_property
    def members(self):
        """Returns the public members of the types above, as `Type.member`."""
        return sorted(
            {
                member
                for path in self.files
                if path.startswith("Sources/Direct") and path.endswith(".swift")
                for member in public_members(self.text(path))
            }
            | OWN_SETTINGS
        )

    @cached_property
    def suites(self):
        """Returns the names of the suites' types, each with its target."""
        found = {}
        for path in self.files:
            if path.startswith("Tests/") and path.endswith(".swift"):
                for name in re.findall(r"\bstruct (\w+)", self.text(path)):
                    found[name] = path.split("/")[1]
        return found


def public_members(text):
    """Yields `Type.member` for each public member of the types above."""
    for member in members(text):
        # The messages are nested in the client, and are spoken of by their short names.
        name = re.sub(r"^HTTPClient\.(?=Request|Response)", "", ".".join(member.path[:-1]))
        is_watched = any(name == type or name.startswith(type + ".") for type in TYPES)
        is_setting = "public" in member.modifiers and "mutating" not in member.modifiers
        if is_watched and is_setting and member.path[-1] not in UNWIRED:
            yield f"{name}.{member.path[-1]}"


def module_folder(path):
    """The folder of the module that a file belongs to, such as Sources/DirectHTTP."""
    return "/".join(path.split("/")[:2])


class BuildError(Exception):
    """The copy does not build; the message is the compiler's."""


class Copy:
    """A copy of the checkout with all mutants, in a folder that is kept, so that later builds are incremental."""

    def __init__(self, tree, folder):
        self.tree = tree
        self.folder = folder

    def write(self, table):
        sources = table.mutated_sources(self.tree)
        modules = {module_folder(path) for path in sources}
        extra = {f"{module}/Mutant.swift": self._imports(module) + SWITCH for module in modules}
        for door in table.doors:
            module = module_folder(self.tree.anchors.find(door.where, door.at).path)
            extra[f"{module}/Mutant.swift"] += door_function(door)
        wanted = {name: (self.tree.root / name).read_bytes() for name in self.tree.files}
        wanted.update({path: text.encode() for path, text in sources.items()})
        wanted.update({path: text.encode() for path, text in extra.items()})
        for name, content in wanted.items():
            self._put(name, content)
        self._remove_others(set(wanted))

    def _imports(self, module):
        """Returns imports of the package's modules that the files of a module import, for the types of its doors."""
        names = {name for name in self.tree.files if name.startswith(f"{module}/") and name.endswith(".swift") and ".docc/" not in name}
        found = {
            imported
            for name in names
            for imported in re.findall(r"^(?:\w+ )?import (Direct\w+)$", (self.tree.root / name).read_text(), re.M)
        }
        return "".join(f"internal import {name}\n" for name in sorted(found))

    def _put(self, name, content):
        """Writes a file only if it has changed, because its date decides whether it is compiled again."""
        target = self.folder / name
        if target.is_file() and target.read_bytes() == content:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        if (self.tree.root / name).exists():
            shutil.copymode(self.tree.root / name, target)

    def _remove_others(self, wanted):
        for folder, folders, files in os.walk(self.folder):
            folders[:] = [name for name in folders if name != ".build"]
            for file in files:
                path = Path(folder) / file
                if str(path.relative_to(self.folder)) not in wanted:
                    path.unlink()

    def build(self):
        """Builds the tests and returns their program."""
        programs = list(self.build_part("--build-tests").glob("*.xctest"))
        if len(programs) != 1:
            raise BuildError(f"{len(programs)} programs with tests, not one")
        return programs[0]

    def build_release(self, product):
        """Builds a program as the other scripts do, with the traits whose libraries are installed, and returns it."""
        shell = ["bash", "-c", "source scripts/common.bash && possible_traits"]
        traits = subprocess.run(shell, cwd=self.tree.root, check=True, capture_output=True, text=True).stdout.split()
        return self.build_part("-c", "release", *traits, "--product", product) / product

    def build_part(self, *arguments):
        """Builds what the arguments ask for, and returns the folder that its programs are in."""
        command = ["swift", "build", *arguments, "--package-path", str(self.folder)]
        built = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if built.returncode != 0:
            errors = [line for line in built.stdout.splitlines() if "error:" in line]
            raise BuildError("\n".join(errors or built.stdout.splitlines()[-20:]))
        shown = subprocess.run(command + ["--show-bin-path"], check=True, capture_output=True, text=True)
        return Path(shown.stdout.strip())
