"""libsoup 3, GNOME's library of HTTP, from Python. preload.so leads it to the addresses.

The environment has its default priorities of GnuTLS without session tickets: else all sessions of a process would be resumed.
"""

import json
import os
import traceback

import gi

gi.require_version("Soup", "3.0")
import contract  # noqa: E402
from gi.repository import Gio, GLib, Soup  # noqa: E402


def open_session(job, jar):
    keep, proxy = job.get("keep", []), job.get("settings", {}).get("proxy")
    session = Soup.Session.new()
    session.set_tls_database(Gio.TlsFileDatabase.new(job["roots"]))
    session.set_proxy_resolver(Gio.SimpleProxyResolver.new(proxy and f"http://{proxy['at']}", None))
    if "cookies" in keep:
        session.add_feature(jar)
    if "hsts" in keep:
        session.add_feature(Soup.HSTSEnforcer.new())
    return session


def authenticate(message, auth, is_again, job):
    """Answers a challenge, as programs with a window do."""
    told = job.get("settings", {}).get("proxy" if auth.is_for_proxy() else "credentials", {})
    if "user" in told and not is_again:
        auth.authenticate(told["user"], told["password"])
    return True


def make_message(job, request):
    settings = job.get("settings", {})
    pairs = settings.get("headers", []) + request.get("headers", [])
    texts = [request["url"], request.get("method", ""), *sum(pairs, [])]
    if any(character == "\0" or character > "\x7f" for text in texts for character in text):
        raise contract.Leave("its functions take texts in UTF-8 without NUL")
    try:
        message = Soup.Message.new(request.get("method", "GET"), request["url"])
    except TypeError:  # What it does not take is no object.
        return None
    if not settings.get("follow"):
        message.add_flags(Soup.MessageFlags.NO_REDIRECT)
    if "connections" not in job.get("keep", []):
        message.add_flags(Soup.MessageFlags.NEW_CONNECTION)
    if "body" in request:
        content = GLib.Bytes.new(contract.raw(request["body"]))
        if request.get("stream"):
            message.set_request_body(None, Gio.MemoryInputStream.new_from_bytes(content), -1)
        else:
            message.set_request_body_from_bytes(None, content)
    for name, value in pairs:
        message.get_request_headers().append(name, value)
    if "certificate" in settings:
        message.set_tls_client_certificate(Gio.TlsCertificate.new_from_file(settings["certificate"]))
    message.connect("authenticate", authenticate, job)
    return message


def response(message, content):
    found, version = [], {0: "1.0", 1: "1.1"}.get(int(message.get_http_version()))
    message.get_response_headers().foreach(lambda name, value: found.append((name.encode(), value.encode())))
    status = int(message.props.status_code)
    try:
        reason = (message.get_reason_phrase() or "").encode()
    except UnicodeDecodeError:
        reason = "\ufffd".encode()
    if any("\ufffd".encode() in part for part in [reason, *sum(found, ())]):
        raise contract.Leave("Python is given texts in UTF-8, and one sign for all other bytes")
    return contract.response(status, found, content, reason=reason, version=version, url=message.get_uri().to_string())


def ask(job, request, session):
    message = make_message(job, request)
    if message is None:
        return contract.failed(None, "the library takes no such URL")
    loop, found, cancellable = GLib.MainLoop.new(None, False), [], Gio.Cancellable.new()
    limit = GLib.timeout_add(job["timeout"], lambda: cancellable.cancel() or GLib.SOURCE_CONTINUE)
    # Only what runs in a loop tries several addresses beside each other.
    session.send_and_read_async(message, GLib.PRIORITY_DEFAULT, cancellable, lambda _, end: found.append(end) or loop.quit())
    loop.run()
    try:
        content = session.send_and_read_finish(found[0]).get_data() or b""
    except GLib.Error as error:
        kind = "timeout" if error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED) else None
        kind = "refused" if error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CONNECTION_REFUSED) else kind
        return contract.failed(kind, error.message)
    finally:
        GLib.source_remove(limit)
    return response(message, content)


def answer(job, requests):
    session, jar = None, Soup.CookieJar.new()
    results = []
    for request in requests:
        session = session or open_session(job, jar)
        results.append(ask(job, request, session))
    session.abort()
    return results


def in_child(job, requests):
    """The results of requests that a process of their own makes: one process has one cache of TLS sessions."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = {"results": answer(job, requests)}
        except contract.Leave as reason:
            found = {"left": str(reason)}
        except BaseException:
            found = {"broken": traceback.format_exc()}
        with os.fdopen(writing, "w") as file:
            json.dump(found, file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))  # The client has crashed.
    found = json.loads(text)
    if "left" in found:
        raise contract.Leave(found["left"])
    if "broken" in found:
        raise RuntimeError(found["broken"])
    return found["results"]


def open_client(job):
    settings, keep = job.get("settings", {}), job.get("keep", [])
    contract.require(
        job,
        settings={"follow", "decode", "certificate", "resume", "headers", "proxy", "credentials", "redirects.downgrade"},
        keep={"connections", "cookies", "hsts"},
    )
    contract.require_lookup(job)
    contract.proxy(job)
    if "schemes" in settings.get("credentials", {}):
        raise contract.Leave("it chooses the scheme by the challenge")
    places = [f"{endpoint}={','.join(targets)}" for endpoint, targets in job["connect"].items() if targets]
    os.environ["CLIENT_CONNECT"] = ";".join(places) or "none=127.0.0.1:0"
    if keep:
        results = in_child(job, job["requests"])
        return lambda _: results.pop(0)
    return lambda request: in_child(job, [request])[0]


version = f"{Soup.get_major_version()}.{Soup.get_minor_version()}.{Soup.get_micro_version()}"
contract.serve({"name": "libsoup", "version": version, "codings": ["gzip", "deflate", "br"]}, open_client)
