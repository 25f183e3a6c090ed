"""docs/Clients.html: one page in which each cell opens what failed, over the page, with links to what the vectors say.

A few lines of script filter by text and close what is open when a link is followed; everything else works without.
"""

import json
import re
from html import escape
from pathlib import Path

from results import FAILED, RIGHTS, file_of, right_of

STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #b3261e; --good: #1b7f3b; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #6fdc8c; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }
th[scope=col] { position: sticky; top: 0; background: Canvas; }
.files tr > :first-child { position: sticky; left: 0; background: Canvas; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.bad { color: var(--bad); font-weight: 600; } .good { color: var(--good); } .none { opacity: .5; }
details > summary { cursor: pointer; }
ul { margin: .3rem 0; padding-left: 1.1rem; } li { margin: .3rem 0; overflow-wrap: anywhere; min-width: 14rem; }
code { font-size: .9em; } small { opacity: .8; }
button.cell { font: inherit; background: none; border: 0; padding: 0; cursor: pointer; text-decoration: underline dotted; }
[popover] { max-width: min(46rem, 92vw); max-height: 80vh; overflow: auto; border: 1px solid var(--line); padding: .5rem 1rem; }
[popover]::backdrop { background: #0004; }
.filter { position: sticky; top: 0; z-index: 1; background: Canvas; padding: .5rem 0; border-bottom: 1px solid var(--line); }
.filter label { margin-right: .8rem; white-space: nowrap; }
.vector { border-top: 1px solid var(--line); padding: .3rem 0; scroll-margin-top: 9rem; }
.vector:target { background: #fd06; }
[hidden] { display: none !important; }
@media print { th[scope=col], .filter { position: static; } }
"""

SCRIPT = """
const text = document.getElementById("text");
function filter() {
  const wanted = text.value.trim().toLowerCase();
  for (const part of document.querySelectorAll("[data-names]")) {
    part.hidden = wanted !== "" && !part.dataset.names.toLowerCase().includes(wanted);
  }
  for (const topic of document.querySelectorAll("section")) {
    topic.hidden = !topic.querySelector("[data-names]:not([hidden])");
  }
}
text.addEventListener("input", filter);
addEventListener("hashchange", () => {
  for (const open of document.querySelectorAll("[popover]:popover-open")) open.hidePopover();
});
filter();
"""

VECTORS = Path(__file__).resolve().parents[3] / "Fixtures" / "vectors"


def anchor(name):
    """The place of a vector in the page: its name, which never changes its meaning."""
    return "v-" + re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") + f"-{len(name)}"


def lines_of(topic):
    """File and line of each vector of a topic."""
    found = {}
    for path in sorted((VECTORS / topic).glob("*.json")):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if match := re.match(r'\s*\{?\s*"name": ("(?:[^"\\]|\\.)*")', line):
                found.setdefault(json.loads(match[1]), f"../Fixtures/vectors/{topic}/{path.name}#L{number}")
    return found


def cell(number, client, topic, file):
    """What one client did with the vectors of one file."""
    judged = [row for row in client.rows if row["topic"] == topic and file_of(row) == file]
    run = [row for row in judged if row["outcome"] != "left"]
    failed = [row for row in run if row["outcome"] in FAILED]
    hard = [row for row in failed if right_of(row) != "choice"]
    if not run:
        why = sorted({row["leftBecause"] for row in judged})
        return f'<td data-client="{number}" class="none" title="{escape("; ".join(why))}">–</td>'
    if not failed:
        return f'<td data-client="{number}" class="number good">{len(run)}</td>'
    colour = "bad" if hard else ""
    more = f" <small>+{len(failed) - len(hard)} choices</small>" if len(failed) > len(hard) else ""
    items = "".join(item(row) for row in sorted(failed, key=lambda row: RIGHTS.index(right_of(row))))
    place = f"c-{client.name}-{topic}-{file}"
    return (f'<td data-client="{number}"><button class="cell {colour}" popovertarget="{place}">{len(hard)} of {len(run)}</button>{more}'
            f'<div popover id="{place}"><b>{escape(client.title)}, {escape(file)}</b><ul>{items}</ul></div></td>')


def item(row):
    right = right_of(row)
    link = f'<a href="#{anchor(row["name"])}">{escape(row["name"])}</a> <small>({right})</small>'
    if row["outcome"] == "withheld":
        return f'<li class="{right}">an attack, withheld</li>'
    differences = "".join(
        f"<br>{escape(found['what'])}: expected <code>{escape(short(found['expected']))}</code>, "
        f"got <code>{escape(short(found['got']))}</code>"
        for found in row["differences"][:4]
    )
    return f'<li class="{right}">{link}{differences}</li>'


def short(text):
    return text if len(text) <= 160 else text[:157] + "…"


def overview(board):
    rows = []
    for client in board.clients:
        cells = []
        for right in RIGHTS:
            count = client.count(right=right)
            colour = "none" if not count.run else "bad" if count.failed and right != "choice" else ""
            cells.append(f'<td class="number {colour}">{count.text}</td>')
        rows.append(f'<tr><th scope="row">{escape(client.title)}</th><td>{escape(client.version)}</td>{"".join(cells)}'
                    f'<td class="number">{client.count().withheld or ""}</td>'
                    f'<td class="number">{client.count().left}</td></tr>')
    heads = ["client", "version", *RIGHTS, "withheld", "left out"]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def topic_table(board, topic):
    # Clients that can be asked nothing of the topic have no column.
    asked = [(number, client) for number, client in enumerate(board.clients)
             if any(row["topic"] == topic and row["outcome"] != "left" for row in client.rows)]
    heads = "".join(f'<th scope="col" data-client="{number}">{escape(client.title)}</th>' for number, client in asked)
    rows = "".join(
        f'<tr data-names="{escape(" ".join(names_of(board, topic, file)))}"><th scope="row">{escape(file)}</th>'
        f'{"".join(cell(number, client, topic, file) for number, client in asked)}</tr>'
        for file in board.files(topic)
    )
    table = f'<thead><tr><th scope="col">file</th>{heads}</tr></thead><tbody>{rows}</tbody>'
    return f'<div class="wide"><table class="files">{table}</table></div>'


def names_of(board, topic, file):
    return [row["name"] for row in board.clients[0].rows if row["topic"] == topic and file_of(row) == file]


def vector_list(board, topic):
    """Each vector that a client fails, with its rule, its file and these clients."""
    failing, places = {}, lines_of(topic)
    for client in board.clients:
        for row in client.failures(topic=topic):
            if row["outcome"] != "withheld":
                failing.setdefault(row["name"], (row, []))[1].append(client.title)
    entries = "".join(
        f'<div class="vector {row["right"]}" id="{anchor(name)}" data-names="{escape(name)} {escape(" ".join(titles))}">'
        f'<a href="#{anchor(name)}">#</a> <b>{escape(name)}</b> <small>({row["right"]}, {escape(row["reference"])})</small>'
        + (f' <a href="{places[name]}">the vector</a>' if name in places else "")
        + f'<br>{escape(row["why"])}<br><small>not as it says: {escape(", ".join(titles))}</small></div>'
        for name, (row, titles) in failing.items()
    )
    return f"<details><summary>{len(failing)} vectors that a client fails</summary>{entries}</details>" if entries else ""


def controls(board):
    """What is shown: rights, clients and a text. The first two are rules of the style."""
    rights = "".join(f'<label><input type="checkbox" id="r-{right}" checked> {right}</label>' for right in RIGHTS)
    clients = "".join(
        f'<label><input type="checkbox" id="k-{number}" checked> {escape(client.title)}</label>'
        for number, client in enumerate(board.clients)
    )
    search = '<label>name <input type="search" id="text" placeholder="part of a name"></label>'
    return f'<div class="filter">{search}{rights}<details><summary>clients</summary>{clients}</details></div>'


def rules(board):
    hidden = [(f"#r-{right}", f".{right}") for right in RIGHTS]
    hidden += [
        (f"#k-{number}", f'.files [data-client="{number}"]') for number, _ in enumerate(board.clients)
    ]
    return "\n".join(f"body:has({box}:not(:checked)) {what} {{ display: none; }}" for box, what in hidden)


def text(board):
    topics = "".join(
        f"<section><h2>{escape(title)}</h2>{topic_table(board, topic)}{vector_list(board, topic)}</section>"
        for topic, title in board.topics().items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>HTTP clients compared by the vectors of direct-http</title>
<style>{STYLE}{rules(board)}</style>
</head>
<body>
<h1>HTTP clients compared</h1>
<p>Made by <code>scripts/verify/scoreboard</code> on {board.date}. Each cell has the number of vectors that the client fails, of those
that it was shown, and opens what failed. Below each table are these vectors with their rules. A vector judges by a known attack, by a
MUST or a SHOULD of an RFC, or by a choice of direct-http; choices are not failures. A dash means that the client cannot be asked. How a
client fails an attack is withheld unless that is public.</p>
{overview(board)}
{controls(board)}
{topics}
<script>{SCRIPT}</script>
</body>
</html>
"""
