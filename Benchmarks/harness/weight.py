"""What the package adds to a program: bytes on disk beside a program that uses only Swift, and processor time to build."""

import resource
import shutil

from . import children
from .report import table

MANIFEST = """// swift-tools-version: 6.2
import PackageDescription
let package = Package(
    name: "weight",
    dependencies: [.package(name: "direct-http", path: "%s")],
    targets: [
        .executableTarget(name: "empty"),
        .executableTarget(name: "hello", dependencies: [.product(name: "DirectHTTP", package: "direct-http")]),
    ]
)
"""

# It uses what any program with `async` has, so that the concurrency library counts as Swift's.
EMPTY = """actor Sum {
    var value = 0
    func add(_ more: Int) { value += more }
}
let sum = Sum()
await withTaskGroup(of: Void.self) { group in for number in 0..<3 { group.addTask { await sum.add(number) } } }
print(await sum.value)
"""

HELLO = """import DirectHTTP
let response = try await HTTPClient().get("https://www.example.com/")
print(response.status, response.text ?? "")
"""

FLAGS = {"as SwiftPM links it": [], "-Xlinker --no-export-dynamic": ["-Xlinker", "--no-export-dynamic"]}


def measure(repository, folder):
    """Builds both programs from nothing. Returns a table as text."""
    package = folder / "weight"
    for name, text in (("empty", EMPTY), ("hello", HELLO)):
        (package / "Sources" / name).mkdir(parents=True)
        (package / "Sources" / name / "main.swift").write_text(text)
    (package / "Package.swift").write_text(MANIFEST % repository)
    rows, seconds = [], {}
    for words, flags in FLAGS.items():
        sizes = {}
        for name in ("empty", "hello"):
            program, spent = build(package, name, flags)
            seconds.setdefault(name, spent)
            sizes[name] = stripped_size(program)
        rows.append([words, *(f"{size / 1e6:.2f}" for size in (sizes["empty"], sizes["hello"], sizes["hello"] - sizes["empty"]))])
    sizes = table("MB, release, stripped, Swift's library linked in", [["", "empty", "hello", "the package"], *rows])
    return f"{sizes}\n\nProcessor time to build hello after empty, from nothing: {seconds['hello']:.0f} s"


def build(package, name, flags):
    """Returns the program, and the processor time of the build."""
    command = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", package, "--product", name, *flags]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    children.run(command, timeout=3600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    place, _ = children.run([*command, "--show-bin-path"])
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return f"{place.strip()}/{name}", spent


def stripped_size(program):
    copy = f"{program}-stripped"
    shutil.copy(program, copy)
    children.run(["strip", copy])
    with open(copy, "rb") as file:
        return file.seek(0, 2)
