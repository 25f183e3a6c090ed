#!/usr/bin/env python3
"""Checks the Xcode project of Examples/iOS as far as Linux can: what it names exists, and what exists it names."""

import plistlib
import re
import sys
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "Examples" / "iOS"
PROJECT = FOLDER / "Shop.xcodeproj"
TRAIT = "OpenSSLPackage"

TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|"((?:[^"\\]|\\.)*)"|([\w./$-]+)|([{}()=;,])', re.S)
IDENTITY = re.compile(r"[0-9A-F]{24}")
PHASES = {".swift": "Sources", ".m": "Sources", ".xcprivacy": "Resources"}


def main(_):
    text = (PROJECT / "project.pbxproj").read_text()
    try:
        findings = list(faults(parsed(text), re.findall(r"^\t\t([0-9A-F]{24})\b.* = \{", text, re.M)))
    except (ExpatError, KeyError, OSError) as error:
        sys.exit(f"Examples/iOS: {error!r}")
    if findings:
        print(*findings, sep="\n")
        sys.exit(1)


def parsed(text):
    """A property list in the old style, as dictionaries, lists and texts."""
    tokens, place = [], 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if not found:
            sys.exit(f"project.pbxproj: what is {text[place:place + 20]!r}?")
        if found.lastindex:
            tokens.append((found.lastindex == 3, found[found.lastindex]))
        place = found.end()
    tokens.reverse()

    def expect(mark):
        if not tokens or tokens.pop() != (True, mark):
            sys.exit(f"project.pbxproj: {mark} is missing, {len(tokens)} words before the end")

    def value():
        is_mark, word = tokens.pop()
        if not is_mark:
            return word
        result = {} if word == "{" else []
        while tokens and tokens[-1] != (True, "}" if word == "{" else ")"):
            if word == "{":
                key = value()
                expect("=")
                result[key] = value()
                expect(";")
            else:
                result.append(value())
                expect(",")
        expect("}" if word == "{" else ")")
        return result

    return value()


def faults(project, declared):
    objects = project["objects"]
    yield from (f"project.pbxproj: {name} is declared twice" for name in {name for name in declared if declared.count(name) > 1})
    named = set(identities(project["rootObject"])) | set(identities(list(objects.values())))
    yield from (f"project.pbxproj: there is no object {name}" for name in sorted(named - set(objects)))
    yield from (f"project.pbxproj: nothing names {name}, {objects[name]['isa']}" for name in sorted(set(objects) - named))
    if named == set(objects):
        targets = [objects[name] for name in objects[project["rootObject"]]["targets"]]
        if [target["name"] for target in targets] != ["Shop"]:
            yield "project.pbxproj: it has another target than Shop"
        yield from files(objects, targets[0])
        yield from settings(objects, objects[project["rootObject"]], targets[0])
        yield from packages(objects, objects[project["rootObject"]], targets[0])
        yield from scheme(next(name for name, one in objects.items() if one is targets[0]))
    yield from objective_c()
    yield from property_lists()


def identities(value):
    if isinstance(value, str):
        yield from [value] if IDENTITY.fullmatch(value) else []
    for one in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from identities(one)


def files(objects, target):
    """Each file of the folder is in the project once, and each that is compiled or copied in its phase."""
    there = {path.relative_to(FOLDER).as_posix() for path in (FOLDER / "Shop").rglob("*") if path.is_file()}
    paths = dict(grouped(objects, objects[next(iter(identities_of(objects, "PBXProject")))]["mainGroup"], ""))
    yield from (f"project.pbxproj: there is no {path}" for path in sorted(set(paths.values()) - there))
    yield from (f"project.pbxproj: {path} is not in it" for path in sorted(there - set(paths.values())))
    built = []
    for phase in [objects[name] for name in target["buildPhases"]]:
        kind = phase["isa"].removeprefix("PBX").removesuffix("BuildPhase")
        built += [(kind, paths.get(objects[name].get("fileRef"))) for name in phase["files"] if "fileRef" in objects[name]]
    wanted = [(PHASES[Path(path).suffix], path) for path in sorted(there) if Path(path).suffix in PHASES]
    yield from (f"project.pbxproj: {path} is not in the phase {kind} once" for kind, path in wanted if built.count((kind, path)) != 1)
    yield from (f"project.pbxproj: {path} has no business in the phase {kind}" for kind, path in built if (kind, path) not in wanted)


def identities_of(objects, kind):
    return [name for name, one in objects.items() if one["isa"] == kind]


def grouped(objects, name, folder):
    """The files below a group, with their places from the project's folder; not what a build makes."""
    one = objects[name]
    place = "/".join(filter(None, [folder, one.get("path", "")]))
    if one["isa"] == "PBXGroup":
        for child in one["children"]:
            yield from grouped(objects, child, place)
    elif one["sourceTree"] == "<group>":
        yield name, place


def settings(objects, project, target):
    """In both configurations; those of the target come before those of the project."""
    oldest = re.search(r"\.iOS\(\.v(\d+)\)", (ROOT / "Package.swift").read_text())[1]
    wanted = {
        "INFOPLIST_FILE": "Shop/Info.plist",
        "SWIFT_OBJC_BRIDGING_HEADER": "Shop/Shop-Bridging-Header.h",
        "PRODUCT_NAME": "$(TARGET_NAME)",
        "GENERATE_INFOPLIST_FILE": "YES",
        "CLANG_ENABLE_OBJC_ARC": "YES",
        "SDKROOT": "iphoneos",
        "SWIFT_VERSION": "6.0",
        "IPHONEOS_DEPLOYMENT_TARGET": f"{oldest}.0",
    }
    lists = [[objects[name] for name in objects[one["buildConfigurationList"]]["buildConfigurations"]] for one in (project, target)]
    for configurations in lists:
        if [one["name"] for one in configurations] != ["Debug", "Release"]:
            yield "project.pbxproj: the configurations are not Debug and Release"
    for general, own in zip(*lists):
        have = {**general["buildSettings"], **own["buildSettings"]}
        for name, value in wanted.items():
            if have.get(name) != value:
                yield f"project.pbxproj: in {own['name']} {name} is {have.get(name)}, not {value}"
        for name in ("INFOPLIST_FILE", "SWIFT_OBJC_BRIDGING_HEADER"):
            if not (FOLDER / have.get(name, "?")).is_file():
                yield f"project.pbxproj: {name} leads to no file"


def packages(objects, project, target):
    """The app links AppHTTP, whose manifest turns the trait on, and Alamofire; each from a package of the project."""
    products = {objects[name]["productName"]: objects[name] for name in target["packageProductDependencies"]}
    frameworks = [objects[name] for name in target["buildPhases"] if objects[name]["isa"] == "PBXFrameworksBuildPhase"]
    linked = [objects[objects[name]["productRef"]]["productName"] for phase in frameworks for name in phase["files"]]
    if sorted(linked) != sorted(products) or sorted(products) != ["Alamofire", "AppHTTP"]:
        yield f"project.pbxproj: it links {linked}, and depends on {sorted(products)}"
    for name, product in products.items():
        if product.get("package") not in project["packageReferences"]:
            yield f"project.pbxproj: {name} is of no package of the project"
    local = [objects[name] for name in project["packageReferences"] if objects[name]["isa"] == "XCLocalSwiftPackageReference"]
    for reference in local:
        manifest = FOLDER / reference["relativePath"] / "Package.swift"
        text = manifest.read_text() if manifest.is_file() else ""
        if '.library(name: "AppHTTP"' not in text:
            yield f"project.pbxproj: {reference['relativePath']} has no product AppHTTP"
        if f'traits: ["{TRAIT}"]' not in text or f'name: "{TRAIT}"' not in (ROOT / "Package.swift").read_text():
            yield f"{reference['relativePath']}/Package.swift: does not turn on the trait {TRAIT}"
    if len(local) != 1:
        yield f"project.pbxproj: {len(local)} local packages"


def scheme(target):
    path = PROJECT / "xcshareddata" / "xcschemes" / "Shop.xcscheme"
    references = list(ElementTree.parse(path).iter("BuildableReference"))
    for one in references:
        if (one.get("BlueprintIdentifier"), one.get("ReferencedContainer")) != (target, f"container:{PROJECT.name}"):
            yield f"{path.name}: names another target than that of the project"
    if not references:
        yield f"{path.name}: names no target"


def objective_c():
    """What each language shows to the other: headers that exist, and classes with the names that are used."""
    swift = "".join(path.read_text() for path in (FOLDER / "Shop").glob("*.swift"))
    shown = set(re.findall(r"@objc\((\w+)\)\n(?:final )?class \1\b", swift))
    for path in sorted((FOLDER / "Shop").glob("*.[hm]")):
        text = path.read_text()
        for header in re.findall(r'#import "([^"]+)"', text):
            if header != "Shop-Swift.h" and not (path.parent / header).is_file():
                yield f"{path.name}: there is no {header}"
        for name in re.findall(r"(\w+)\.class\b", text):
            if name not in shown or '"Shop-Swift.h"' not in text:
                yield f"{path.name}: Swift shows no class {name}"
    if not shown:
        yield "Shop: no class of Swift is shown to Objective-C"


def property_lists():
    info = plistlib.loads((FOLDER / "Shop" / "Info.plist").read_bytes())
    for key in ("NSLocalNetworkUsageDescription", "ITSAppUsesNonExemptEncryption"):
        if key not in info:
            yield f"Info.plist: {key} is missing"
    if "NSAppTransportSecurity" in info:
        yield "Info.plist: no connection needs an exception"
    keys = {"NSPrivacyTracking", "NSPrivacyTrackingDomains", "NSPrivacyCollectedDataTypes", "NSPrivacyAccessedAPITypes"}
    for path in (FOLDER / "Shop" / "PrivacyInfo.xcprivacy", ROOT / "Sources" / "DirectIO" / "PrivacyInfo.xcprivacy"):
        if set(plistlib.loads(path.read_bytes())) != keys:
            yield f"{path.relative_to(ROOT)}: its keys are not Apple's four"


if __name__ == "__main__":
    main(sys.argv[1:])
