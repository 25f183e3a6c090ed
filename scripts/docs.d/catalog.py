#!/usr/bin/env python3
"""The catalogs of the reference, for scripts/docs.

  catalog.py articles CATALOG         copies the pages of docs/ into a DocC catalog. Links between them become links of DocC; those
                                      to other files become their names, because the site does not have these. Pictures are those
                                      of the catalog.
  catalog.py places FOLDER MODULE…    checks that each outermost type is on its module's page, and each member of a type that has a
                                      page of groups on that page: DocC lists the others below all groups, where nobody looks.
"""

import json
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)")


# Requirements of protocols of the library, which have no place of their own.
LEFT_OUT = {"customMirror", "description"}


def articles(catalog):
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


def places(folder, *modules):
    absent = [f"{place}: {name}" for module in modules for place, name in missing(Path(folder), module)]
    if absent:
        sys.exit("docs: these are in no group of their page\n" + "\n".join(f"  {each}" for each in absent))


def missing(folder, module):
    symbols = json.loads((folder / f"{module}.symbols" / f"{module}.symbols.json").read_text())["symbols"]
    paths = {tuple(each["pathComponents"]) for each in symbols}
    for page in (ROOT / "Sources" / module / f"{module}.docc").glob("*.md"):
        text = page.read_text()
        if title := re.match(r"# ``(.*)``", text):
            outer = tuple(title[1].split("/")[1:])
            listed = {name.split("/")[-1] for name in re.findall(r"^- ``([^`]+?)(?:-\(.*\))?``", text, re.M)}
            for path in sorted(paths):
                if path[:-1] == outer and path[-1] not in listed | LEFT_OUT:
                    yield title[1], path[-1]


if __name__ == "__main__":
    {"articles": articles, "places": places}[sys.argv[1]](*sys.argv[2:])
