#!/usr/bin/env python3
"""Makes files of packages: files.py TASK ARGUMENT…

  sbom PROGRAM VERSION [PACKAGE…]        prints an SBOM (SPDX 2.3, JSON): what is linked in (the package itself, Swift's runtime and
                                         library, the C++ library, the static libraries of these packages of Debian) and the shared
                                         libraries that the program needs, with the Debian packages that they are of on this machine
  wheel PROGRAM VERSION TAG SBOM FOLDER  makes the wheel of a program, and prints its path without an end of line. The program goes
                                         where pip puts commands; tls-fixtures has the fixtures in share/tls-fixtures, and the contract
                                         of adapters as a module. Files have the time SOURCE_DATE_EPOCH and a fixed order, so that the
                                         same content makes the same wheel
  describe FRAMEWORK                     writes the Info.plist of an XCFramework of OpenSSL, from its folders
  find FRAMEWORK SYSTEM ARCHITECTURE     prints library and headers for a target such as ios-simulator arm64
  tbd TARGET INSTALL-NAME LIBRARY [SYMBOL…]   prints a list of symbols for Apple's linker: all that a library exports, and more. The
                                         target is arm64-ios, x86_64-macos …; the library a .tbd file, whose symbols for the architecture
                                         on macOS are taken whatever their system is; a Linux library (.so), whose symbols get the
                                         underscore that Apple's have; a Mach-O object; or HEADER.h:BEGINNING, for the names that the
                                         header declares with one of these beginnings
"""

import base64
import datetime
import hashlib
import json
import os
import plistlib
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]


# SBOM


def sbom(program, version, *linked):
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
        sys.exit(f"files.py: the package {name} is not installed, whose library is linked in")
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


# Wheels

SUMMARIES = {
    "tls-fixtures": "Shows an HTTP client what servers can do to it, and judges it: 1,600 vectors over the wire",
    "sni-probe": "Tells which certificate an IP address serves for a name",
    "direct-proxy": "Gives any program the addresses of your choice under their names",
}
DOCUMENTS = {"tls-fixtures": "docs/Vectors.md", "sni-probe": "docs/sni-probe.md", "direct-proxy": "docs/Local-proxy.md"}
# What is linked in, with the file of its licence on this machine.
LICENCES = {"OpenSSL": "/usr/share/doc/libssl-dev/copyright", "zlib": "/usr/share/doc/zlib1g-dev/copyright"}


def wheel(program, version, tag, sbom, folder):
    name = Path(program).name
    module = name.replace("-", "_")
    info, data = f"{module}-{version}.dist-info", f"{module}-{version}.data"
    files = {f"{data}/scripts/{name}": (Path(program).read_bytes(), True)}
    if name == "tls-fixtures":
        files |= fixtures(f"{data}/data/share/tls-fixtures/Fixtures")
        # Adapters outside of the folder of clients import it as tls_fixtures.contract.
        files[f"{module}/contract.py"] = ((ROOT / "Fixtures/clients/contract.py").read_bytes(), False)
        files[f"{module}/__init__.py"] = (b'"""The vectors of tls-fixtures for clients in Python: see contract."""\n', False)
    else:
        files[f"{data}/data/share/man/man1/{name}.1"] = ((ROOT / f"docs/{name}.1").read_bytes(), False)
    files |= {f"{info}/licenses/{title}": (text, False) for title, text in licences().items()}
    files[f"{info}/sboms/{name}.spdx.json"] = (Path(sbom).read_bytes(), False)
    files[f"{info}/METADATA"] = (metadata(name, version).encode(), False)
    wheel = f"Wheel-Version: 1.0\nGenerator: direct-http\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    files[f"{info}/WHEEL"] = (wheel.encode(), False)
    record = [f"{path},sha256={digest(content)},{len(content)}" for path, (content, _) in sorted(files.items())]
    files[f"{info}/RECORD"] = ("\n".join([*record, f"{info}/RECORD,,", ""]).encode(), False)
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / f"{module}-{version}-py3-none-{tag}.whl"
    pack(path, files)
    print(path, end="")


def fixtures(place):
    """What git knows of them, so that nothing of this machine's own comes along."""
    folders = ["Fixtures/vectors", "Fixtures/certificates", "Fixtures/clients"]
    listed = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, check=True).stdout
    paths = [Path(name) for name in listed.decode().split("\0") if name]
    read = lambda path: ((ROOT / path).read_bytes(), os.access(ROOT / path, os.X_OK))
    return {f"{place}/{path.relative_to('Fixtures')}": read(path) for path in paths}


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
            sys.exit(f"files.py: {path} is missing, with the licence of {title}, which is linked in")
        found[title] = Path(path).read_bytes()
    return found


def metadata(name, version):
    fields = {
        "Metadata-Version": "2.1", "Name": name, "Version": version, "Summary": SUMMARIES[name], "License": "MIT",
        "Requires-Python": ">=3.8", "Description-Content-Type": "text/markdown",
    }
    lines = [f"{field}: {value}" for field, value in fields.items()]
    return "\n".join([*lines, "", (ROOT / DOCUMENTS[name]).read_text()])


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def pack(path, files):
    moment = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, is_program) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            archive.writestr(entry, content)


# XCFrameworks

LIBRARY, HEADERS = "libOpenSSL.a", "Headers"


def entry(folder):
    platform, architectures, *variant = folder.name.split("-")
    facts = {
        "BinaryPath": LIBRARY,
        "HeadersPath": HEADERS,
        "LibraryIdentifier": folder.name,
        "LibraryPath": LIBRARY,
        # One of them has an underscore itself.
        "SupportedArchitectures": architectures.replace("x86_64", "x86-64").replace("_", " ").replace("-", "_").split(),
        "SupportedPlatform": platform,
    }
    return facts | ({"SupportedPlatformVariant": variant[0]} if variant else {})


def describe(framework):
    framework = Path(framework)
    facts = {
        "AvailableLibraries": [entry(folder) for folder in sorted(framework.iterdir()) if folder.is_dir()],
        "CFBundlePackageType": "XFWK",
        "XCFrameworkFormatVersion": "1.0",
    }
    (framework / "Info.plist").write_bytes(plistlib.dumps(facts))


def find(framework, system, architecture):
    framework = Path(framework)
    platform, _, variant = system.partition("-")
    try:
        facts = plistlib.loads((framework / "Info.plist").read_bytes())
    except (OSError, plistlib.InvalidFileException):
        sys.exit(f"{framework} is no XCFramework: it has no Info.plist")
    for one in facts.get("AvailableLibraries", []):
        wanted = (platform, variant, True)
        if (one["SupportedPlatform"], one.get("SupportedPlatformVariant", ""),
                architecture in one["SupportedArchitectures"]) == wanted:
            folder = framework / one["LibraryIdentifier"]
            library, headers = folder / one["LibraryPath"], folder / one.get("HeadersPath", "")
            if not library.is_file() or library.suffix != ".a":
                sys.exit(f"{library} is no static library: scripts/package openssl-xcframework makes one")
            if not (headers / "OpenSSL/ssl.h").exists():
                sys.exit(f"{headers} has no OpenSSL/ssl.h")
            print(library, headers, sep="\n")
            return
    sys.exit(f"{framework} has no library for {system} on {architecture}")


# Symbols


def exports(library, architecture):
    if library.endswith(".tbd"):
        text = open(library).read()
        # arm64e's lists hold for arm64 as well: the linker takes them so.
        wanted = rf"\b{architecture}e?-macos"
        for targets, symbols in re.findall(r"targets:\s*\[([^]]*)\]\s*(?:weak-)?symbols:\s*\[([^]]*)\]", text):
            if re.search(wanted, targets):
                yield from (name.strip("' \n") for name in symbols.split(","))
        return
    if ".h:" in library:
        header, beginning = library.split(":")
        for name in re.findall(rf"^(?!typedef)\w[^;\n]*?\b({beginning}\w+)(?:\(|;)", open(header).read(), re.MULTILINE):
            yield "_" + name
        return
    linux = ".so" in library
    listing = subprocess.run(
        ["llvm-nm", "-D" if linux else "-g", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout
    for line in listing.splitlines():
        name = line.split()[-1].split("@")[0]
        yield "_" + name if linux else name


def tbd(target, install_name, library, *more):
    names = sorted({*exports(library, target.split("-")[0]), *more} - {""})
    names = ", ".join(f"'{name}'" for name in names if not name.startswith("$"))
    print(f"--- !tapi-tbd\ntbd-version: 4\ntargets: [ {target} ]\ninstall-name: '{install_name}'")
    print(f"exports:\n  - targets: [ {target} ]\n    symbols: [ {names} ]\n...")


if __name__ == "__main__":
    tasks = {"sbom": sbom, "wheel": wheel, "describe": describe, "find": find, "tbd": tbd}
    tasks[sys.argv[1]](*sys.argv[2:])
