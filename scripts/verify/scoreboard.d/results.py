"""The results of all clients, how they are counted, and docs/Clients.md, which is made of them."""

import json
from dataclasses import dataclass, field

TOPICS = {
    "response": "reading responses",
    "request": "writing requests",
    "decoding": "content codings",
    "names": "certificates and names",
    "handshake": "TLS handshakes",
    "routes": "several addresses",
    "cookies": "cookies",
    "cache": "cache",
    "redirect": "redirects",
    "hsts": "HSTS",
    "path": "what the path sees",
    "values": "name and address",
    "proxy": "proxies",
    "auth": "authentication",
    "exchange": "exchanges",
    "events": "event streams",
}
# Attacks that clients are known to fail: the clients, how the vectors' names begin, and where it is public. Of others their authors are
# told first.
KNOWN = [
    ("curl libcurl php-curl URLSession", ("end-of-input: until close, ", "truncation: until close, cut",),
     "https://curl.se/docs/sslcerts.html and the closing of TLS described in CURLE_PARTIAL_FILE: the end of the "
     "connection is the end of such content"),
    ("curl", ("refused: CR LF", "refused: bare CR", "refused: bare LF",),
     "https://curl.se/docs/manpage.html, --header: the text is sent as it is given"),
    ("libcurl php-curl", ("refused: CR LF", "refused: bare CR", "refused: bare LF",),
     "https://curl.se/libcurl/c/CURLOPT_HTTPHEADER.html: the caller must not pass line ends (PHP's option of that name "
     "hands them on)"),
    ("curl libcurl php-curl", ("origin: Proxy-Authorization to another host",),
     "https://curl.se/libcurl/c/CURLOPT_HTTPHEADER.html: custom fields are sent to all hosts, except Authorization and "
     "Cookie"),
    ("wget", ("origin: Authorization", "origin: Cookie to another host", "origin: there and on",),
     "CVE-2021-31879: --header is sent to every host"),
    ("lwp", ("origin: Authorization", "origin: authorization in lower case", "origin: Proxy-Authorization to another host",
     "origin: there and on",),
     "CVE-2026-8368, https://github.com/libwww-perl/libwww-perl/pull/527: fields of the caller are sent to other origins"),
    ("lwp", ("end-of-input: ", "truncation: within a length", "truncation: until close, cut",),
     "https://github.com/libwww-perl/libwww-perl/issues/86, 158 and 234: whether a content is complete is not checked"),
]
# A vector that is a choice of this package does not fail: the client differs. What is withheld has failed.
FAILED = ["failed", "withheld", "differs"]
RIGHTS = ["attack", "must", "should", "choice"]


@dataclass
class Count:
    """How many vectors a client was shown, and how many of those it failed."""

    run: int = 0
    failed: int = 0
    left: int = 0
    withheld: int = 0
    # The rules that are broken: several vectors show one.
    rules: set = field(default_factory=set)

    def add(self, row):
        if row["outcome"] == "left":
            self.left += 1
            return
        self.run += 1
        self.withheld += row["outcome"] == "withheld"
        if row["outcome"] in FAILED:
            self.failed += 1
            self.rules.add(row["reference"])

    @property
    def text(self):
        if not self.run:
            return "–"
        return f"{self.failed}/{self.run} ({len(self.rules)})" if self.failed else f"0/{self.run}"


@dataclass
class Client:
    name: str
    date: str
    seconds: int
    rows: list = field(repr=False)
    title: str = ""

    def __post_init__(self):
        self.title = self.title or self.rows[0]["client"]

    @property
    def version(self):
        return self.rows[0]["version"]

    def count(self, right=None, topic=None):
        count = Count()
        for row in self.rows:
            if right in (None, right_of(row)) and topic in (None, row["topic"]):
                count.add(row)
        return count

    def reasons(self):
        """Why vectors were left out, with their number, the most frequent first."""
        counts = {}
        for row in self.rows:
            if row["outcome"] == "left":
                counts[row["leftBecause"]] = counts.get(row["leftBecause"], 0) + 1
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def judged(rows):
    """The rows with those that an adapter kept from being judged as left out."""
    return [row | {"outcome": "left", "leftBecause": "the adapter failed"} if row["outcome"] == "broken" else row
            for row in rows]


def distinct(clients):
    """The clients, those of one title with their names in clients.json behind it."""
    titles = [client.title for client in clients]
    for client, title in zip(clients, titles):
        if titles.count(title) > 1:
            client.title = f"{title} ({client.name})"
    return clients


def right_of(row):
    """The right by which a row counts: the strongest that the client has broken, else that of the vector."""
    return row.get("broken") or row["right"]


def published(client, rows):
    """The rows with failed attacks that are not public as withheld: they count, and how they fail is not told."""
    names = tuple(name for clients, vectors, _ in KNOWN if client in clients.split() for name in vectors)
    for row in rows:
        is_attack = row["outcome"] == "failed" and right_of(row) == "attack"
        if is_attack and client != "ours" and not row["name"].startswith(names or ("\n",)):
            row |= {"outcome": "withheld", "differences": []}
    return rows


class Board:
    """The clients in the order of clients.json."""

    def __init__(self, clients):
        self.clients = clients

    @staticmethod
    def read(folder, names):
        clients = []
        for name in names:
            path = folder / f"{name}.json"
            if path.exists():
                kept = json.loads(path.read_text())
                clients.append(Client(**kept | {"rows": published(name, judged(kept["rows"]))}))
        return Board(distinct(clients))

    @property
    def date(self):
        return max(client.date for client in self.clients)

    def topics(self):
        """The topics with rows, and their titles. A topic without a title has its name."""
        found = dict.fromkeys(row["topic"] for client in self.clients for row in client.rows)
        ordered = [topic for topic in TOPICS if topic in found] + [topic for topic in found if topic not in TOPICS]
        return {topic: TOPICS.get(topic, topic) for topic in ordered}

    def attacks(self):
        """The attack vectors that at least one client failed: the rows of the first client, by topic and file."""
        failed = {row["name"] for client in self.clients for row in client.rows if row["outcome"] in ("failed", "differs") and
                  right_of(row) == "attack"}
        return [row for row in self.clients[0].rows if row["name"] in failed]

    def outcomes(self, name):
        """What came of one vector with each client: passed, failed, withheld or left."""
        return [next((row["outcome"] for row in client.rows if row["name"] == name), "left") for client in self.clients]


# The page

HEAD = """# Clients compared

What other HTTP clients do with [the vectors](../Fixtures/vectors/README.md): bytes, certificates, addresses and redirects that
a server can show to any client. `scripts/verify/scoreboard` made this page on {date}; `scripts/vectors --client NAME` shows every
failure with its reason. Each client is used as its documentation says, with its defaults; the programs are in
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
