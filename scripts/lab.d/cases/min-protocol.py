"""An administrator's MinProtocol refuses an older server by default; a caller's explicit minimum wins, older or newer."""

import ssl

from kit import FOLDER, Client, Server, answer_ok, authority, failed, fetched


def run():
    roots, context = authority("a.test")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    server, path = Server(answer_ok, tls=context), FOLDER / "openssl.cnf"

    def call(administrator, **settings):
        sections = "openssl_conf = init\n[init]\nssl_conf = ssl\n[ssl]\nsystem_default = tls\n[tls]\n"
        path.write_text(f"{sections}MinProtocol = {administrator}\n")
        client = Client(environment={"OPENSSL_CONF": str(path)}, roots=roots, **settings)
        return client.call(server.url(name="a.test"), address=f"127.0.0.1:{server.port}")

    fetched(call("TLSv1.2"), "ok")
    failed(call("TLSv1.3"), "tls")
    fetched(call("TLSv1.3", minimumTLS="1.2"), "ok")
    failed(call("TLSv1.2", minimumTLS="1.3"), "tls")
