#!/usr/bin/env python3
"""Whether `scripts/apple run` tells the truth: scripts/apple rehearse [CASE…].

Runs it with programs in place of `swift`, `xcodebuild`, `xcrun` and others, which do what a Mac's do where all goes well, and
something else in one respect for each case. In place of the app curl asks the server, with what the app would be given.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import run  # noqa: E402

# Each is a program of the shell; FAULT is the case. What they are asked is written to the log.
PROGRAMS = {
    "uname": 'case "$*" in -m) echo arm64 ;; *) echo Darwin ;; esac',
    "sw_vers": 'if [ "$FAULT" = old-system ]; then echo 15.6; else echo 26.2; fi',
    "git": 'case "$1" in rev-parse) echo 0123456789abcdef ;; esac',
    "pkg-config": "echo 3.6.1",
    "swift": r"""
case "$*" in
    --version) echo "Apple Swift version 6.2.3 (swiftlang)" ;;
    *--show-bin-path) echo "$STAND_INS" ;;
    build) if [ "$FAULT" = build ]; then echo "$HOME/a.swift:1: error: no such module"; exit 1; fi ;;
    build*) ;;
    test*)
        if [ "$FAULT" = tests ]; then
            echo '✘ Test "A rule holds" recorded an issue at A.swift:1: 1 == 2'; echo "Test run with 7 tests failed"; exit 1
        fi
        if [ "$FAULT" = no-tests ]; then exit 0; fi
        echo "✔ Test run with 4321 tests in 400 suites passed after 9 seconds." ;;
esac""",
    "tls-fixtures": r"""
if [ "$FAULT" = no-vectors ]; then echo "0 passed, 0 failed"; exit 0; fi
if [ "$FAULT" = vectors ]; then echo "a vector: wrong"; echo "1900 passed, 1 failed"; exit 1; fi
echo "1901 passed, 0 failed" """,
    "xcodebuild": r"""
case "$*" in
    -version)
        if [ "$FAULT" = no-xcode ]; then echo "xcode-select: error: tool 'xcodebuild' requires Xcode" >&2; exit 1; fi
        printf 'Xcode 26.2\nBuild version 17C52\n' ;;
    *"iOS Simulator"*)
        if [ "$FAULT" = app ]; then echo "error: no such module 'AppHTTP'"; exit 65; fi
        if [ "$FAULT" != no-app ]; then
            while [ "$1" != -derivedDataPath ]; do shift; done
            mkdir -p "$2/Build/Products/Debug-iphonesimulator/Shop.app"
        fi ;;
    *) if [ "$FAULT" = device ]; then exit 65; fi ;;
esac""",
    "xcrun": r"""
ask() { curl --silent --show-error --max-time 20 --cacert "$folder/root.pem" --resolve "$1:$port:127.0.0.1" "$2" 2>&1; }
case "$2" in
    list)
        system=26-2 earlier=18-0
        if [ "$FAULT" = no-phone ]; then system=17-5 earlier=17-1; fi
        echo '{"devices": {"com.apple.CoreSimulator.SimRuntime.iOS-'$earlier'": [{"name": "iPhone 14", "deviceTypeIdentifier": "old"}],
            "com.apple.CoreSimulator.SimRuntime.iOS-'$system'": [{"name": "iPad", "deviceTypeIdentifier": "pad"},
            {"name": "iPhone 17", "deviceTypeIdentifier": "new"}],
            "com.apple.CoreSimulator.SimRuntime.watchOS-26-0": [{"name": "iPhone watch", "deviceTypeIdentifier": "watch"}]}}' ;;
    create) echo "DEVICE-OF-$4-$5" ;;
    bootstatus) if [ "$FAULT" = no-boot ]; then echo "Unable to boot"; exit 149; fi ;;
    launch)
        if [ "$FAULT" = silent ]; then echo "trial client: ok, 6 bytes"; sleep 600; exit 0; fi
        if [ "$FAULT" = crash ]; then echo "trial client: ok, 6 bytes"; exit 0; fi
        folder=$(mktemp -d)
        printf %s "$SIMCTL_CHILD_SHOP_ROOT" >"$folder/root.pem"
        port=${SIMCTL_CHILD_SHOP_RIGHT##*:} port=${port%/}
        [ "$(ask right.shop.test "$SIMCTL_CHILD_SHOP_RIGHT")" = hello ] || { echo "the right page does not come"; exit 1; }
        error=$(ask wrong.shop.test "$SIMCTL_CHILD_SHOP_WRONG") && { echo "the wrong page comes"; exit 1; }
        case "$error" in *"subject name"*) ;; *) echo "another error: $error"; exit 1 ;; esac
        case "$SIMCTL_CHILD_SHOP_MAP" in *"right.shop.test:$port:127.0.0.1"*) ;; *) echo "no map"; exit 1 ;; esac
        rm -r "$folder"
        for way in client session objective-c alamofire; do
            if [ "$FAULT" = way ] && [ $way = session ]; then echo "trial session: failed: URLError -1"; else echo "trial $way: ok, 6 bytes"; fi
            if [ "$FAULT" = accepts ] && [ $way = client ]; then echo "trial client refuses: failed: accepted"
            else echo "trial $way refuses: ok, failed: certificate is for another name"; fi
        done
        echo "trial web-view: ok, right.shop.test"
        echo "trial ended" ;;
esac""",
}

ALL = [f"step {name}" for name in run.STEPS] + [
    f"step trial {name}" for way in run.TRIALS for name in ([way, f"{way} refuses"] if way in run.REFUSALS else [way])
]
TRIALS = [name for name in ALL if name.startswith("step trial ")]
APP = ["step app for the simulator", "step simulator", *TRIALS]
# For each case what is not "ok", and how its line begins.
CASES = {
    "good": {},
    "old-system": {"step tests": "not run, they need macOS 26"},
    "no-xcode": dict.fromkeys([*APP, "step app for a device"], "not run"),
    "build": {
        "step build": "failed, exit status 1", "step tests": "not run, the build failed", "step vectors": "not run, the build failed",
    },
    "tests": {"step tests": "failed, exit status 1"},
    "no-tests": {"step tests": "failed, no test has run"},
    "vectors": {"step vectors": "failed, exit status 1"},
    "no-vectors": {"step vectors": "failed, no vector was judged"},
    "app": {**dict.fromkeys(APP, "not run"), "step app for the simulator": "failed, exit status 65"},
    "no-app": {**dict.fromkeys(TRIALS, "not run"), "step simulator": "failed, there is no ./.build"},
    "device": {"step app for a device": "failed, exit status 65"},
    "no-phone": {**dict.fromkeys(TRIALS, "not run"), "step simulator": "not run, there is no simulator of an iPhone"},
    "no-boot": {**dict.fromkeys(TRIALS, "not run"), "step simulator": "failed, exit status 149"},
    "crash": {
        **dict.fromkeys(TRIALS, "failed, the app did not tell"), "step trial client": "ok",
        "step simulator": "failed, the app ended before its trials",
    },
    "silent": {
        **dict.fromkeys(TRIALS, "failed, the app did not tell"), "step trial client": "ok", "step simulator": "failed, no end within",
    },
    "way": {"step trial session": "failed: URLError -1"},
    "accepts": {"step trial client refuses": "failed: accepted"},
}


def main(names):
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name in ("bin", "home"):
            (folder / name).mkdir()
        for name, text in PROGRAMS.items():
            path = folder / "bin" / name
            path.write_text(f'#!/bin/sh\necho "{name} $*" >>"$STAND_INS/log"\n{text.strip()}\n')
            path.chmod(0o755)
        for fault in names or CASES:
            found = list(rehearse(folder, fault, CASES[fault]))
            print(f"{'FAIL' if found else 'ok':5} {fault}", *found, sep="\n      ", flush=True)
            wrong += found
    if wrong:
        sys.exit(1)
    print(f"apple: `run` tells the truth in {len(names or CASES)} cases")


def rehearse(folder, fault, unlike):
    report, log = folder / "report.txt", folder / "bin" / "log"
    log.unlink(missing_ok=True)
    # Of another case.
    shutil.rmtree(run.WORK / "derived", ignore_errors=True)
    environment = {
        **os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder / "home"), "FAULT": fault,
        "STAND_INS": str(folder / "bin"), "APPLE_RUN_SECONDS": "20" if fault == "silent" else "120",
    }
    command = [sys.executable, run.__file__, "run", str(report)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    text = report.read_text() if report.is_file() else ""
    if not text:
        yield f"no report: {done.stderr}"
        return
    told = run.lines_of(text)
    for name in ALL:
        expected, seen = unlike.get(name, "ok"), told.get(name, "missing")
        if not seen.startswith(expected):
            yield f"{name}: {seen}, not {expected}"
    has_failed = any(outcome.startswith("failed") for outcome in unlike.values())
    if done.returncode != has_failed:
        yield f"exit status {done.returncode}"
    if str(folder / "home") in text or str(run.ROOT) in text:
        yield "the report names a folder of this machine"
    if fault in ("build", "tests", "vectors") and {"build": "~/a.swift:1: error", "tests": "✘ Test", "vectors": "a vector"}[fault] not in text:
        yield "the report has nothing of what was printed"
    asked = log.read_text()
    if ("simctl create" in asked) != ("simctl delete DEVICE-OF-new-com.apple.CoreSimulator.SimRuntime.iOS-26-2" in asked):
        yield "a simulator is left"
    if fault in ("good", "no-xcode"):
        yield from table(told, fault)


def table(told, fault):
    rows = list(run.rows(told))
    if len(rows) != 3 + len(run.STEPS) + len(run.TRIALS) or "macOS 26.2 on arm64" not in rows[0]:
        yield f"the table: {rows}"
    words = " ".join(rows[2:])
    if fault == "good" and "not run" in words or fault == "no-xcode" and words.count("not run") != 9:
        yield f"the table: {rows}"
    if any("not run" not in row for row in list(run.rows({}))[2:]):
        yield "the table says more than that nothing was run, without a report"


if __name__ == "__main__":
    main(sys.argv[1:])
