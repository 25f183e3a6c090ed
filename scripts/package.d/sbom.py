#!/usr/bin/env python3
"""Prints an SBOM (SPDX 2.3, JSON) of a program of this package: sbom.py PROGRAM VERSION [PACKAGE…]

It names what is linked in (the package itself, Swift's runtime and library, the C++ library, and the static libraries of these
packages of Debian) and the shared libraries that the program needs, with the Debian packages that they are of on this machine.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True


def main(program, version, *linked):
    name = Path(program).name
    created = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    digest = hashlib.sha256(Path(program).read_bytes()).hexdigest()
    main_package = package(name, version, "MIT", checksum=digest)
    static = [
        package("swift", swift_version(), "Apache-2.0 WITH Swift-exception", "https://www.swift.org"),
        package("libstdc++", output("gcc", "-dumpfullversion") or "NOASSERTION", "GPL-3.0-or-later WITH GCC-exception-3.1"),
        *(debian_package(each) for each in linked),
    ]
    dynamic = [library_package(name) for name in needed(program)]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{version}",
        "documentNamespace": f"https://example.com/direct-http/sbom/{name}-{version}-{digest[:16]}",
        "creationInfo": {
            "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: direct-http-scripts-package"],
        },
        "packages": unique([main_package, *static, *dynamic]),
        "relationships": unique(
            [relation("SPDXRef-DOCUMENT", "DESCRIBES", main_package)]
            + [relation(main_package["SPDXID"], "STATIC_LINK", each) for each in static]
            + [relation(main_package["SPDXID"], "DYNAMIC_LINK", each) for each in dynamic]
        ),
    }
    print(json.dumps(document, indent=2))


def package(name, version, licence, home="NOASSERTION", checksum=None):
    made = {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": home,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "filesAnalyzed": False,
    }
    if checksum:
        made["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksum}]
    return made


def relation(of, kind, other):
    return {"spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": other["SPDXID"]}


def unique(items):
    """Several libraries may be of one package."""
    return list({json.dumps(item, sort_keys=True): item for item in items}.values())


def needed(program):
    return sorted(set(re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", output("readelf", "-d", program))))


def library_package(name):
    """The Debian package that has a library; the library's own name where there is none."""
    found = re.search(rf"^\s*{re.escape(name)} .*=> (\S+)", output("ldconfig", "-p") or output("/sbin/ldconfig", "-p"), re.M)
    path = os.path.realpath(found[1]) if found else ""
    owner = (output("dpkg", "-S", path) or output("dpkg", "-S", path.removeprefix("/usr"))).split(":")[0]
    if not owner:
        return package(name, "NOASSERTION", "NOASSERTION")
    return debian_package(owner)


def debian_package(name):
    version = output("dpkg-query", "-W", "-f", "${Version}", name)
    if not version:
        sys.exit(f"sbom.py: the package {name} is not installed, whose library is linked in")
    made = package(name, version, "NOASSERTION")
    locator = f"pkg:deb/debian/{name}@{version}"
    made["externalRefs"] = [
        {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}
    ]
    return made


def swift_version():
    found = re.search(r"Swift version (\S+)", output("swift", "--version"))
    return found[1] if found else "NOASSERTION"


def output(*words):
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
