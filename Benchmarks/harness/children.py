"""Child processes that end with the run, however it ends."""

import ctypes
import os
import signal
import subprocess
import sys


class BenchError(Exception):
    """A wrong result or a failed program. The run reports no figures then."""


PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)
running = set()


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def be_a_server():
    """Makes a server end with its parent, by SIGTERM because nginx's master has to stop its worker, and pins it to
    one core. Without that the scheduler places client and server sometimes on one core, sometimes on two, and a
    request in which each waits for the other costs three times as much in the second case as in the first."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def environment_with(additions):
    """The environment of a measured program, without variables that set a proxy or other root certificates."""
    left_out = ("CURL_", "SSL_CERT_")
    inherited = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {name: value for name, value in inherited.items() if not name.startswith(left_out)} | additions


def start(command, environment=None, first=die_with_parent, **options):
    """Starts a child in a session of its own, so that one signal reaches all the processes it starts. With
    `environment`, even an empty one, the inherited environment is cleaned."""
    environment = None if environment is None else environment_with(environment)
    options = {"stdin": subprocess.DEVNULL, **options}
    child = subprocess.Popen(command, env=environment, start_new_session=True, preexec_fn=first, **options)
    running.add(child)
    return child


def stop(child, patience=5):
    try:
        os.killpg(child.pid, signal.SIGTERM)
        child.wait(patience)
    except ProcessLookupError:
        child.wait()
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    running.discard(child)


def stop_all():
    for child in list(running):
        stop(child)


def run(command, environment=None, timeout=600, **options):
    """Runs a command to its end and returns stdout and stderr as text. A failure ends the benchmark."""
    child = start(command, environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    try:
        output, errors = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise BenchError(f"not finished after {timeout} s: {' '.join(map(str, command))}") from None
    finally:
        stop(child)
    if child.returncode != 0:
        raise BenchError(f"{' '.join(map(str, command))}\n  ended with {child.returncode}: {(errors or output).strip()}")
    return output, errors


def note(*words):
    print(*words, file=sys.stderr, flush=True)


def end_on_signals():
    """Turns SIGINT, SIGTERM and SIGHUP into an exception, so that everything is cleaned up."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def unwind(number, frame):
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for each in signals:
        signal.signal(each, unwind)
