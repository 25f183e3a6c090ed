"""What results of a job have to be. A test takes a result and the requests that servers have seen, and raises `Wrong`."""

import json

# Jobs whose results are the client's own affair: what differs here is told, and the adapter need not be wrong.
CLIENTS_OWN = {
    "an address of IPv6 in the URL",
    "an end before the content's",
    "an end before the response",
    "an end inside of a chunk",
    "an interim response",
    "content until the end",
    "cookies at a time of the job",
    "the next address if one refuses",
    "the next address with another port",
    "other bytes in a field",
    "trailers",
    "what is not HTTP",
}


class Wrong(Exception):
    """The adapter does something wrong. Where it says so itself, the client has no part in it."""

    def __init__(self, why, is_adapters=False):
        super().__init__(why)
        self.is_adapters = is_adapters


def expect(found, wanted, what):
    if found != wanted:
        raise Wrong(f"{what} is {shown(found)}, not {shown(wanted)}")


def shown(value):
    text = json.dumps(value, default=str) if not isinstance(value, bytes) else repr(value)
    return text if len(text) < 160 else text[:157] + "..."


def answered(content, status=200):
    """A test of a result: a response with this content."""

    def test(result, seen):
        if "error" in result:
            raise Wrong(f"it fails with {shown(result['error'])}")
        expect(result.get("status"), status, "the status")
        if content is not None:
            expect(result["body"].encode("latin-1"), content, "the body")

    return test


def fails(*kinds):
    """A test of a result: an error, of one of these kinds if it has one."""

    def test(result, seen):
        if "error" not in result:
            raise Wrong(f"it does not fail: {shown(result)}")
        kind = result["error"].get("kind")
        if kind is not None and kind not in kinds:
            raise Wrong(f"the kind of its error is {kind}, not {' or '.join(kinds)}: {result['error']['text']}")

    return test


def anything(result, seen):
    pass


def both(*tests):
    def test(result, seen):
        for each in tests:
            each(result, seen)

    return test


def arrived(**wanted):
    """A test of the last request that a server has seen."""

    def test(result, seen):
        if not seen:
            raise Wrong("no request has arrived")
        for name, value in wanted.items():
            expect(seen[-1][name], value, f"the {name} that arrived")

    return test


def has(member, test):
    """A test of a member that a client need not tell."""

    def check(result, seen):
        if result.get(member) is not None and not test(result[member]):
            raise Wrong(f"{member} is {shown(result[member])}")

    return check


def nothing_of_the_user(result, seen):
    fields = {name.lower(): value for name, value in seen[-1]["fields"]} if seen else {}
    if "authorization" in fields:
        raise Wrong("it sends a password of .netrc")
    if fields.get("user-agent", "").startswith("from-"):
        raise Wrong("it reads settings of the user")


def field_sent(name, value):
    def test(result, seen):
        values = [found for each, found in seen[-1]["fields"] if each.lower() == name.lower()] if seen else []
        if value not in values:
            raise Wrong(f"{name} arrived as {shown(values)}, not {shown(value)}")

    return test


def cookies_are(*wanted):
    def test(result, seen):
        answered(None)(result, seen)
        expect(sorted(result["body"].split("; ")), sorted(wanted), "the Cookie field")

    return test
