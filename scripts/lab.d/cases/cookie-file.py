"""Two processes save their cookies to one file again and again: a reader always finds those of one, whole, and mode 0600."""

from kit import FOLDER, Client, Server, reply, requests, same, true

WHOLE = {letter: sorted(f"{letter}{number}" for number in range(30)) for letter in "ab"}


def run():
    def serve(connection):
        for _, target, _ in requests(connection):
            reply(connection, "", *(f"Set-Cookie: {name}={'v' * 1000}" for name in WHOLE[target[1:]]))

    server, path, clients = Server(serve), FOLDER / "cookies", {letter: Client() for letter in WHOLE}
    for letter, client in clients.items():
        same("status", client.call(server.url(f"/{letter}")).get("status"), 200)
        same("error", client.call(kind="save", path=str(path)).get("error"), None)
    orders = [(client, client.begin(kind="save", path=str(path))) for _ in range(40) for client in clients.values()]
    while not all(number in client.answers for client, number in orders[-2:]):
        names = sorted(line.split("\t")[5] for line in path.read_text().splitlines() if line.count("\t") == 6)
        true("the file", "the cookies of one process", names in WHOLE.values(), names)
        same("its mode", oct(path.stat().st_mode & 0o777), "0o600")
    for client, number in orders:
        same("error of a save", client.end(number).get("error"), None)
    loaded = Client().call(kind="load", path=str(path))
    same("cookies and faults that are loaded", (loaded.get("count"), loaded.get("faults")), (30, 0))
    same("files", [each.name for each in FOLDER.iterdir()], ["cookies"])
