"""The results of all clients, and how they are counted."""

import json
from dataclasses import dataclass, field
from pathlib import Path

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
}
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

    def count(self, right=None, topic=None, file=None):
        count = Count()
        for row in self.rows:
            if right and right_of(row) != right or topic and row["topic"] != topic:
                continue
            if file and file_of(row) != file:
                continue
            count.add(row)
        return count

    def failures(self, **filters):
        def fits(row):
            own = {"file": file_of(row), "right": right_of(row)}
            return all(own.get(key, row.get(key)) == value for key, value in filters.items())

        return [row for row in self.rows if row["outcome"] in FAILED and fits(row)]

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


def file_of(row):
    """The file of a vector, with which its name begins."""
    return row["name"].split(":")[0]


def published(client, rows):
    """The rows with failed attacks that are not public as withheld: they count, and how they fail is not told.

    The client's authors are told first. known.json lists what is known, with its source.
    """
    known = json.loads((Path(__file__).parent / "known.json").read_text())
    names = [name for entry in known if client in entry["clients"] for name in entry["vectors"]]
    for row in rows:
        is_attack = row["outcome"] == "failed" and right_of(row) == "attack"
        if is_attack and client != "ours" and not row["name"].startswith(tuple(names) or ("\n",)):
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

    def files(self, topic):
        """The files of a topic in the order of the vectors."""
        files = []
        for row in self.clients[0].rows:
            if row["topic"] == topic and file_of(row) not in files:
                files.append(file_of(row))
        return files

    def attacks(self):
        """The attack vectors that at least one client failed: the rows of the first client, by topic and file."""
        failed = {row["name"] for client in self.clients for row in client.failures(right="attack")
                  if row["outcome"] != "withheld"}
        return [row for row in self.clients[0].rows if row["name"] in failed]

    def outcomes(self, name):
        """What came of one vector with each client: passed, failed, withheld or left."""
        return [next((row["outcome"] for row in client.rows if row["name"] == name), "left") for client in self.clients]
