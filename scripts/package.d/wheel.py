#!/usr/bin/env python3
"""Makes the wheel of a program: wheel.py PROGRAM VERSION TAG SBOM FOLDER. Prints its path, without an end of line.

The program goes where pip puts commands. That of tls-fixtures has the fixtures beside it, in share/tls-fixtures. The files have the
time SOURCE_DATE_EPOCH and a fixed order, so that the same content makes the same wheel.
"""

import base64
import hashlib
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
SUMMARIES = {
    "tls-fixtures": "Shows an HTTP client what servers can do to it, and judges it: 1,600 vectors over the wire",
    "sni-probe": "Tells which certificate an IP address serves for a name",
}
DOCUMENTS = {"tls-fixtures": "docs/Vectors.md", "sni-probe": "docs/sni-probe.md"}
# What is linked in, with the file of its licence on this machine.
LICENCES = {
    "OpenSSL": "/usr/share/doc/libssl-dev/copyright",
    "zlib": "/usr/share/doc/zlib1g-dev/copyright",
}


def main(program, version, tag, sbom, folder):
    name = Path(program).name
    module = name.replace("-", "_")
    info, data = f"{module}-{version}.dist-info", f"{module}-{version}.data"
    files = {f"{data}/scripts/{name}": (Path(program).read_bytes(), True)}
    if name == "tls-fixtures":
        files |= fixtures(f"{data}/data/share/tls-fixtures/Fixtures")
    else:
        files[f"{data}/data/share/man/man1/sni-probe.1"] = ((ROOT / "docs/sni-probe.1").read_bytes(), False)
    files |= {f"{info}/licenses/{title}": (text, False) for title, text in licences().items()}
    files[f"{info}/sboms/{name}.spdx.json"] = (Path(sbom).read_bytes(), False)
    files[f"{info}/METADATA"] = (metadata(name, version).encode(), False)
    wheel = f"Wheel-Version: 1.0\nGenerator: direct-http\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    files[f"{info}/WHEEL"] = (wheel.encode(), False)
    record = [f"{path},sha256={digest(content)},{len(content)}" for path, (content, _) in sorted(files.items())]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,", ""]).encode(), False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / f"{module}-{version}-py3-none-{tag}.whl"
    write(path, files)
    print(path, end="")


def fixtures(place):
    """What git knows of them, so that nothing of this machine's own comes along."""
    folders = ["Fixtures/vectors", "Fixtures/certificates", "Fixtures/clients"]
    listed = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, check=True).stdout
    paths = [Path(name) for name in listed.decode().split("\0") if name]
    return {
        f"{place}/{path.relative_to('Fixtures')}": (
            (ROOT / path).read_bytes(),
            os.access(ROOT / path, os.X_OK),
        )
        for path in paths
    }


def licences():
    found = {"direct-http": (ROOT / "LICENSE").read_bytes()}
    swift = subprocess.run(["which", "swift"], capture_output=True, text=True, check=True).stdout.strip()
    gcc = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
    places = LICENCES | {
        "Swift": str(Path(swift).resolve().parents[1] / "share/swift/LICENSE.txt"),
        "libstdc++": f"/usr/share/doc/gcc-{gcc}-base/copyright",
    }
    for title, path in places.items():
        if not Path(path).exists():
            sys.exit(f"wheel.py: {path} is missing, with the licence of {title}, which is linked in")
        found[title] = Path(path).read_bytes()
    return found


def metadata(name, version):
    fields = {
        "Metadata-Version": "2.1",
        "Name": name,
        "Version": version,
        "Summary": SUMMARIES[name],
        "License": "MIT",
        "Requires-Python": ">=3.8",
        "Description-Content-Type": "text/markdown",
    }
    lines = [f"{field}: {value}" for field, value in fields.items()]
    return "\n".join([*lines, "", (ROOT / DOCUMENTS[name]).read_text()])


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def write(path, files):
    moment = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, is_program) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            archive.writestr(entry, content)


if __name__ == "__main__":
    main(*sys.argv[1:])
