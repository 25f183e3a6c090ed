"""Python's own urllib.request, on http.client."""

import http.client
import http.cookiejar
import platform
import socket
import ssl
import urllib.error
import urllib.request

import contract

http.cookiejar.time = contract.Clock()


class Unfollowed(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def open_client(job):
    contract.require(
        job, settings={"follow", "versions", "accept", "certificate", "resume", "redirects.downgrade"}, keep={"connections", "cookies"}, time=True
    )
    contract.leave_old_versions(job)
    contract.replace_lookup(job)
    jar = http.cookiejar.CookieJar()

    def send(request):
        headers = contract.single_fields(request)
        context = contract.prepare_context(ssl.create_default_context(cafile=job["roots"]), job)
        if "cookies" not in job.get("keep", []):
            jar.clear()
        handlers = [
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=context),
            urllib.request.HTTPCookieProcessor(jar),
        ]
        if not job.get("settings", {}).get("follow", False):
            handlers.append(Unfollowed)
        opener = urllib.request.build_opener(*handlers)

        def ask():
            wanted = urllib.request.Request(
                request["url"], contract.body(request), headers, method=request.get("method", "GET")
            )
            try:
                found = opener.open(wanted, timeout=job["timeout"] / 1000)
            except urllib.error.HTTPError as answer:  # A response with any status but 2xx.
                found = answer
            with found:
                return contract.response(
                    found.status,
                    found.headers.items(),
                    found.read(),
                    reason=found.reason,
                    version={10: "1.0", 11: "1.1"}.get(getattr(found, "version", None)),
                    url=found.url,
                )

        return contract.attempt(job, ask, KINDS)

    return send


KINDS = [(socket.timeout, "timeout"), (http.client.IncompleteRead, "incomplete")]

contract.serve({"name": "urllib.request", "version": platform.python_version(), "codings": []}, open_client)
