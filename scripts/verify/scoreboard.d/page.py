"""docs/Clients.html: one page without scripts, in which each cell opens what failed and why."""

from html import escape

from results import FAILED, RIGHTS, TOPICS, file_of, right_of

STYLE = """
:root { color-scheme: light dark; --line: #8884; --bad: #b3261e; --good: #1b7f3b; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #6fdc8c; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }
th[scope=col] { position: sticky; top: 0; background: Canvas; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.bad { color: var(--bad); font-weight: 600; } .good { color: var(--good); } .none { opacity: .5; }
details > summary { cursor: pointer; }
ul { margin: .3rem 0; padding-left: 1.1rem; } li { margin: .3rem 0; overflow-wrap: anywhere; min-width: 14rem; }
code { font-size: .9em; } small { opacity: .8; }
@media print { details { display: block; } th[scope=col] { position: static; } }
"""


def cell(client, topic, file):
    """What one client did with the vectors of one file."""
    judged = [row for row in client.rows if row["topic"] == topic and file_of(row) == file]
    run = [row for row in judged if row["outcome"] != "left"]
    failed = [row for row in run if row["outcome"] in FAILED]
    hard = [row for row in failed if right_of(row) != "choice"]
    if not run:
        why = sorted({row["leftBecause"] for row in judged})
        return f'<td class="none" title="{escape("; ".join(why))}">–</td>'
    if not failed:
        return f'<td class="number good">{len(run)}</td>'
    colour = "bad" if hard else ""
    summary = f'<span class="{colour}">{len(hard)} of {len(run)}</span>'
    if len(failed) > len(hard):
        summary += f" <small>+{len(failed) - len(hard)} choices</small>"
    items = "".join(item(row) for row in sorted(failed, key=lambda row: RIGHTS.index(right_of(row))))
    return f'<td><details><summary>{summary}</summary><ul>{items}</ul></details></td>'


def item(row):
    if row["outcome"] == "withheld":
        return "<li>an attack, withheld</li>"
    differences = "".join(
        f"<br>{escape(found['what'])}: expected <code>{escape(short(found['expected']))}</code>, "
        f"got <code>{escape(short(found['got']))}</code>"
        for found in row["differences"][:4]
    )
    return (f"<li><b>{escape(row['name'])}</b> <small>({right_of(row)}, {escape(row['reference'])})</small><br>"
            f"{escape(row['why'])}{differences}</li>")


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
    heads = "".join(f'<th scope="col">{escape(client.title)}</th>' for client in board.clients)
    rows = "".join(
        f'<tr><th scope="row">{escape(file)}</th>{"".join(cell(client, topic, file) for client in board.clients)}</tr>'
        for file in board.files(topic)
    )
    return (f'<div class="wide"><table><thead><tr><th scope="col">file</th>{heads}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>")


def text(board):
    topics = "".join(
        f"<h2>{escape(title)}</h2>{topic_table(board, topic)}" for topic, title in TOPICS.items() if board.files(topic)
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>HTTP clients compared by the vectors of direct-http</title>
<style>{STYLE}</style>
</head>
<body>
<h1>HTTP clients compared</h1>
<p>Made by <code>scripts/verify/scoreboard</code> on {board.date}. Each cell has the number of vectors that the client fails, of those
that it was shown, and opens what failed and why. A vector judges by a known attack, by a MUST or a SHOULD of an RFC, or by a
choice of direct-http; choices are not failures. A dash means that the client cannot be asked. How a client fails an attack is
withheld unless that is public.</p>
{overview(board)}
{topics}
</body>
</html>
"""
