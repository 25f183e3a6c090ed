#!/usr/bin/env python3
"""Info.plist of an XCFramework of static libraries.

    xcframework.py write FRAMEWORK                       from its folders, such as ios-arm64_x86_64-simulator
    xcframework.py find FRAMEWORK SYSTEM ARCHITECTURE    prints library and headers for a target such as ios-simulator arm64"""
import pathlib
import plistlib
import sys

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


def write(framework):
    facts = {
        "AvailableLibraries": [entry(folder) for folder in sorted(framework.iterdir()) if folder.is_dir()],
        "CFBundlePackageType": "XFWK",
        "XCFrameworkFormatVersion": "1.0",
    }
    (framework / "Info.plist").write_bytes(plistlib.dumps(facts))


def find(framework, system, architecture):
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


if __name__ == "__main__":
    task, framework, *more = sys.argv[1:]
    {"write": write, "find": find}[task](pathlib.Path(framework), *more)
