#!/usr/bin/env python3
"""Copies the pages of docs/ into a DocC catalog: articles.py CATALOG

The pages have one source, which GitHub shows as it is. Links between pages become links of DocC. Links to other files of
the repository become their names, because the site does not have those files. Pictures are those of the catalog.
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)")


def main(catalog):
    pages = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
    headings = {name: headings_by_anchor(text) for name, text in pages.items()}
    for name, text in pages.items():
        (Path(catalog) / name).write_text(converted(text, name, headings))


def headings_by_anchor(text):
    """The headings of a page by the anchors that GitHub gives them."""
    found = {}
    for line in outside_of_code(text):
        if heading := re.match(r"#{1,6} +(.*)", line):
            title = re.sub(r"[`*]", "", heading[1]).strip()
            anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            found.setdefault(anchor, title)
    return found


def outside_of_code(text):
    is_code = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield line


def converted(text, page, headings):
    def link(found):
        label, target = found.groups()
        if re.match(r"https?:", target):
            return found[0]
        path, _, anchor = target.partition("#")
        path = path or page
        if found.string[found.start() - 1 : found.start()] == "!":
            # A picture is found in the catalog's resources by its name.
            return f"[{label}]({Path(path).name})"
        if path not in headings:
            return label
        title = headings[path].get(anchor)
        return f"[{label}](doc:{Path(path).stem}{fragment(title) if title else ''})"

    parts = re.split(r"(^ *```.*?^ *```[^\n]*$)", text, flags=re.M | re.S)
    for index, part in enumerate(parts):
        # A fence with two words is known to the scripts only.
        parts[index] = re.sub(r"^( *```\w+) \w+$", r"\1", part, flags=re.M) if index % 2 else LINK.sub(link, part)
    return "".join(parts)


def fragment(title):
    """The anchor that DocC gives a heading."""
    text = re.sub(r"[^\w\s\-.~!$&'()*+,;=:@/?]", "", title)
    return "#" + re.sub(r"\s+", "-", text)


if __name__ == "__main__":
    main(*sys.argv[1:])
