"""Builds the measured programs and makes the command line of each for a work."""

import shutil
import tempfile
from pathlib import Path

from . import children
from .children import BenchError, note
from .servers import ADDRESS, HOST

BENCHMARKS = Path(__file__).resolve().parent.parent
REPOSITORY = BENCHMARKS.parent
FOUNDATION = ("bridge", "urlprotocol", "urlsession")
PEERS = ("ours", "libcurl", "libcurl-cached", "wrk", "go", "floor", *FOUNDATION)
C_FLAGS = ["-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]


def install_missing(*more):
    """Installs with apt-get what is missing, as the other scripts do."""
    names = ["nginx", "curl", "openssl", "gcc", "openssl-headers", *more]
    in_bash('install_missing needed "$@"', *names)


def in_bash(script, *words):
    """What functions of scripts/common.bash print."""
    return children.run(["bash", "-c", f'source "{REPOSITORY}/scripts/common.bash" && {script}', "bench", *words], timeout=3600)[0]


class Programs:
    """The built programs, in the folder of this run (ours in the package's own .build)."""

    def __init__(self, folder, peers, works, static):
        asked = {work.kind for work in works} if "ours" in peers else set()
        peers = {peer for peer in peers if any(peer in work.peers for work in works)}
        self.folder = folder
        self.floor = self.compile("floor", "-lssl", "-lcrypto")
        self.libcurl = self.compile("curl-multi", "-lcurl")
        if "go" in peers:
            # Without cgo the program needs no C compiler, and resolves nothing by itself.
            self.go = folder / "go-peer"
            note("bench: building the program for Go's net/http")
            children.run(["go", "build", "-o", self.go, BENCHMARKS / "peers" / "go.go"], {"CGO_ENABLED": "0"})
        if "ours" in peers:
            self.ours = self.build_ours("ours", static)
        if peers & set(FOUNDATION):
            self.foundation = self.build_ours("foundation", static)
        # `once` is linked as `scripts/install` links a command-line tool: with the libraries of Swift and C++ inside, and
        # without a folder of its own to look for the others.
        if "start" in asked:
            self.once = self.build_ours("once", True)
        if "head-parse" in asked:
            self.head_parse = self.build_head_parse()

    def compile(self, name, *flags):
        program = self.folder / name
        children.run(["gcc", *C_FLAGS, BENCHMARKS / "peers" / f"{name}.c", "-o", program, *flags])
        return program

    def build_ours(self, name, static):
        product = "foundation" if name == "foundation" else "ours"
        note(f"bench: building ours (release{', static' if static else ''})")
        # SwiftPM does not notice files added to or removed from a package it depends on by path. Without its old plan
        # it makes a new one.
        scratch = BENCHMARKS / ".build" / "static" if static else BENCHMARKS / ".build"
        (scratch / "release.yaml").unlink(missing_ok=True)
        build = ["swift", "build", "-c", "release", "--package-path", BENCHMARKS, "--product", product]
        build += ["--scratch-path", scratch]
        if static:
            build += ["--static-swift-stdlib", "--disable-local-rpath", *in_bash("find_swift && static_cxx").split()]
        children.run(build, timeout=3600)
        place, _ = children.run([*build, "--show-bin-path"])
        # The copy has no debug information, because valgrind cannot read Swift's; and a rebuild during the run does not
        # change what is measured.
        program = self.folder / name
        shutil.copy(Path(place.strip()) / product, program)
        children.run(["strip", "-g", program])
        return program

    def build_head_parse(self):
        """Compiles the codec as a module, and the driver against it. The measured type is visible inside the package
        only, and the codec imports nothing, so two calls of the compiler are enough."""
        sources = sorted((REPOSITORY / "Sources" / "DirectHTTP1").rglob("*.swift"))
        common = ["swiftc", "-O", "-wmo", "-swift-version", "6", "-package-name", "direct_http", "-parse-as-library"]
        for feature in ("ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"):
            common += ["-enable-upcoming-feature", feature]
        module, program = self.folder / "DirectHTTP1", self.folder / "head-parse"
        as_module = ["-module-name", "DirectHTTP1", "-emit-module", "-emit-module-path", f"{module}.swiftmodule"]
        children.run([*common, *as_module, "-c", "-o", f"{module}.o", *sources], timeout=1800)
        driver = [BENCHMARKS / "head-parse" / "HeadParse.swift", f"{module}.o"]
        children.run([*common, "-I", self.folder, *driver, "-o", program], timeout=1800)
        children.run(["strip", "-g", program])
        return program

    def command(self, peer, work, servers, count):
        """The command to run, and additions to its environment."""
        environment = servers.system_roots(peer) if work.roots == "system" else {}
        if work.kind == "head-parse":
            return [self.head_parse, str(count)], {}
        if work.kind == "start":
            return self.start_command(peer, work, servers), environment
        settings = {
            "host": HOST,
            "address": ADDRESS,
            "port": servers.ports[work.server],
            "path": work.path,
            "ca": "system" if work.roots == "system" else servers.one_root,
            "length": 20480 * 1024 if work.kind == "burst" else 13,
            "last": work.ends_with,
            "count": count,
            "warmup": work.warm_up,
            "inflight": work.in_flight,
            "resume": int(work.resume),
            "settle": 10 if work.kind in ("idle", "burst") and peer == "ours" else 0,
        }
        if work.kind.startswith("cache"):
            settings["length"], settings["objects"] = 4096, work.size
            if work.name != "cache-memory":
                # A new folder each time, because filling it is part of the work.
                settings["folder"] = tempfile.mkdtemp(prefix="cache-", dir=self.folder)
        if peer == "ours":
            settings["executor"] = "loop" if work.on_loop else "task"
            settings["opening"] = work.opening(peer)
        if peer in FOUNDATION:
            settings["way"] = peer
        if work.kind.startswith("scale"):
            settings["objects"] = work.size
        elif work.server == "nginx-plain":
            # Without TLS and a name: URLSession can neither use our root certificate nor map a name to an address.
            settings["scheme"], settings["host"] = "http", ADDRESS
        if peer.startswith("libcurl"):
            settings["driver"] = "easy" if work.in_flight == 1 else "multi"
            settings["keep-roots"] = int(peer == "libcurl-cached")
        words = [f"{key}={value}" for key, value in settings.items() if value != ""]
        return [self.program(peer), work.kind, *words], environment

    def start_command(self, peer, work, servers):
        port = servers.ports[work.server]
        if peer == "libcurl":
            command = ["curl", "-q", "-sS", "--http1.1", "--connect-to", f"::{ADDRESS}:{port}"]
            if work.roots == "one":
                command += ["--cacert", str(servers.one_root)]
            return [*command, f"https://{HOST}:{port}{work.path}"]
        roots = "system" if work.roots == "system" else servers.one_root
        words = {"host": HOST, "address": ADDRESS, "port": port, "path": work.path, "length": 13, "ca": roots}
        if peer == "ours" and not work.on_loop:
            words["executor"] = "task"
        program = self.once if peer == "ours" else self.program(peer)
        return [program, "once", *(f"{key}={value}" for key, value in words.items())]

    def program(self, peer):
        if peer in FOUNDATION:
            return self.foundation
        return self.libcurl if peer.startswith("libcurl") else getattr(self, peer)
