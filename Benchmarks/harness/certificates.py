"""Certificates for one run: authorities, and leaves for names on loopback."""

from . import children


def openssl(*arguments):
    return children.run(["openssl", *map(str, arguments)])[0]


class Authority:
    """A root of its own, in `FOLDER/NAME.pem` and `.key`."""

    def __init__(self, folder, name):
        self.base = folder / name
        self.certificate = folder / f"{name}.pem"
        make_key(self.base)
        openssl("req", "-x509", "-new", "-key", f"{self.base}.key", "-subj", f"/CN=Test {name}", "-days", 30,
                "-out", self.certificate, "-addext", "keyUsage=critical,keyCertSign")

    def issue(self, name, hosts, days=30):
        """A leaf for these hosts, in `NAME.pem` and `.key` beside the root. With 0 days it has expired a second later."""
        leaf = self.base.parent / name
        make_key(leaf)
        openssl("req", "-new", "-key", f"{leaf}.key", "-subj", f"/CN={hosts[0]}", "-out", f"{leaf}.csr")
        names = ",".join(f"DNS:{host}" for host in hosts)
        leaf.with_suffix(".ext").write_text(f"subjectAltName={names}\nbasicConstraints=critical,CA:FALSE\n")
        openssl("x509", "-req", "-in", f"{leaf}.csr", "-CA", self.certificate, "-CAkey", f"{self.base}.key",
                "-CAcreateserial", "-days", days, "-extfile", f"{leaf}.ext", "-out", f"{leaf}.pem")
        return leaf.with_suffix(".pem")


def make_key(base):
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{base}.key")
