"""docs/Clients.md: the tables that fit on a page."""

from results import RIGHTS

HEAD = """# Clients compared

What other HTTP clients do with [the vectors](../Fixtures/vectors/README.md): bytes, certificates, addresses and redirects that
a server can show to any client. `scripts/verify/scoreboard` made this page on {date}; [Clients.html](Clients.html) has every failure
with its reason. Each client is used as its documentation says, with its defaults; the programs are in
[Fixtures/clients](../Fixtures/clients/README.md).

A vector says by what right it judges. An *attack* is a known way to harm a client. *Must* and *should* are words of an RFC. A
*choice* is a decision of this package, where a client may do otherwise: those are counted apart and are not failures. What a
client cannot be asked to do is left out and is not a failure either, and an attack counts as run only if the client does what is
harmless about it. How a client fails an attack is shown only where that is public; else it counts, and is withheld until the
client's authors have had time to answer.

The figures are failed vectors of those that were run, and in brackets how many rules (sections and CVEs) they are about, because
several vectors show one; – means that none could be run.

"""


def table(rows):
    """Rows as a table in Markdown; the first row is its head."""
    head, *body = rows
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" + "--:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in body]
    return "\n".join(lines) + "\n"


def text(board):
    clients = board.clients
    titles = [f"{client.title}" for client in clients]
    parts = [HEAD.format(date=board.date)]

    parts.append("## In all\n\n")
    rows = [["client", "version", "attack", "must", "should", "choices that differ", "withheld", "left out"]]
    for client in clients:
        counts = [client.count(right=right) for right in RIGHTS]
        rows.append([client.title, client.version, *(count.text for count in counts),
                     str(client.count().withheld or ""), str(client.count().left)])
    parts.append(table(rows).replace("|---|--:|", "|---|---|", 1))

    parts.append("\n## Attacks\n\nVectors of known attacks that at least one client fails, as far as that is public.\n\n")
    rows = [["vector", *titles]]
    marks = {"passed": "ok", "failed": "**fails**", "withheld": "withheld", "left": "–"}
    for row in board.attacks():
        name = f"{row['name']} ({row['reference']})".replace("|", "\\|")
        rows.append([name, *(marks[outcome] for outcome in board.outcomes(row["name"]))])
    parts.append(table(rows) if len(rows) > 1 else "None.\n")

    for right in ("must", "should", "choice"):
        words = {"must": "What an RFC demands", "should": "What an RFC recommends", "choice": "Choices of this package"}
        parts.append(f"\n## {words[right]}\n\n")
        rows = [["topic", *titles]]
        for topic, title in board.topics().items():
            counts = [client.count(right=right, topic=topic).text for client in clients]
            if any(count != "–" for count in counts):
                rows.append([title, *counts])
        parts.append(table(rows))

    parts.append("\n## What was left out\n\n")
    for client in clients:
        reasons = client.reasons()
        if not reasons:
            continue
        parts.append(f"- {client.title}: " + "; ".join(f"{why} ({count})" for why, count in reasons[:6]))
        rest = sum(count for _, count in reasons[6:])
        parts.append(f"; other reasons ({rest})\n" if rest else "\n")
    return "".join(parts)
