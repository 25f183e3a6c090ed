"""Copies DirectHTTPFoundation with its half for Apple's systems in place of Linux's: half.py SOURCES COPY.

Only imports stay Linux's. A file that Apple's half does not have is left out.
"""

import pathlib
import shutil
import sys

sources, copy = map(pathlib.Path, sys.argv[1:])
condition = "canImport(FoundationNetworking)"
shutil.rmtree(copy, ignore_errors=True)
copy.mkdir(parents=True)
for file in sources.rglob("*.swift"):
    text = file.read_text()
    # On Linux Foundation does not export it.
    if "CFRunLoop" in text:
        text = text.replace("internal import Foundation\n", "internal import CoreFoundation\ninternal import Foundation\n", 1)
    lines = text.splitlines()
    outer = [line for line in lines if line.startswith("#if")]
    if outer == [f"#if {condition}"] and lines[-1] == "#endif":
        continue
    result = []
    for line, next_line in zip(lines, lines[1:] + [""]):
        is_of_imports = next_line.lstrip().startswith(("internal import", "public import"))
        if line.strip() == f"#if !{condition}":
            line = "#if true"
            if is_of_imports:
                line += "\ninternal import FoundationNetworking"
        elif line.strip() == f"#if {condition}" and not is_of_imports:
            line = "#if false"
        result.append(line)
    (copy / file.name).write_text("\n".join(result) + "\n")
