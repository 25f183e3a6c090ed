#!/usr/bin/env python3
"""Writes a list of symbols for Apple's linker: a .tbd file with all that a library exports, and no more.

    tbd.py TARGET INSTALL-NAME LIBRARY [SYMBOL…]    TARGET is arm64-ios, arm64-macos, x86_64-macos …

LIBRARY is a .tbd file, whose symbols for the architecture on macOS are taken whatever their system is; a Linux library (.so),
whose symbols get the underscore that Apple's have; a Mach-O object; or HEADER.h:BEGINNING, which stands for the names that the
header declares with one of these beginnings. More symbols can follow."""
import re
import subprocess
import sys


def exports(library, architecture):
    if library.endswith(".tbd"):
        text = open(library).read()
        # arm64e's lists hold for arm64 as well: the linker takes them so.
        wanted = rf"\b{architecture}e?-macos"
        for targets, symbols in re.findall(r"targets:\s*\[([^]]*)\]\s*(?:weak-)?symbols:\s*\[([^]]*)\]", text):
            if re.search(wanted, targets):
                yield from (name.strip("' \n") for name in symbols.split(","))
        return
    if ".h:" in library:
        header, beginning = library.split(":")
        for name in re.findall(rf"^(?!typedef)\w[^;\n]*?\b({beginning}\w+)(?:\(|;)", open(header).read(), re.MULTILINE):
            yield "_" + name
        return
    linux = ".so" in library
    listing = subprocess.run(
        ["llvm-nm", "-D" if linux else "-g", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout
    for line in listing.splitlines():
        name = line.split()[-1].split("@")[0]
        yield "_" + name if linux else name


def main():
    target, install_name, library, *more = sys.argv[1:]
    names = sorted({*exports(library, target.split("-")[0]), *more} - {""})
    names = ", ".join(f"'{name}'" for name in names if not name.startswith("$"))
    print(f"--- !tapi-tbd\ntbd-version: 4\ntargets: [ {target} ]\ninstall-name: '{install_name}'")
    print(f"exports:\n  - targets: [ {target} ]\n    symbols: [ {names} ]\n...")


main()
