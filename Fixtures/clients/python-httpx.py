"""Python httpx, or with the argument httpx2 that, through a Client."""

import http.cookiejar
import importlib
import ssl
import sys

import contract

NAME, CORE = ("httpx2", "httpcore2") if sys.argv[1:] == ["httpx2"] else ("httpx", "httpcore")
httpx, httpcore = importlib.import_module(NAME), importlib.import_module(CORE)
http.cookiejar.time = contract.Clock()


def open_session(job, cookies):
    settings = job.get("settings", {})
    context = contract.prepare_context(ssl.create_default_context(cafile=job["roots"]), job)
    options = {}
    if "limit" in settings.get("redirects", {}):
        options["max_redirects"] = settings["redirects"]["limit"]
    proxy, told = contract.proxy(job), contract.credentials(job)
    if proxy:
        options["proxy"] = httpx.Proxy(proxy[0], auth=proxy[1:] if proxy[1] else None)
    if told:
        options["auth"] = (httpx.DigestAuth if told[2] == "digest" else httpx.BasicAuth)(*told[:2])
    return httpx.Client(
        verify=context,
        trust_env=False,
        cookies=cookies,
        headers=[(contract.raw(name), contract.raw(value)) for name, value in settings.get("headers", [])],
        **options,
    )


def open_client(job):
    contract.require(job, settings=contract.ALL_SETTINGS | {"proxy", "credentials"}, keep={"connections", "cookies"}, time=True)
    contract.leave_old_versions(job)
    contract.replace_lookup(job)
    cookies = http.cookiejar.CookieJar()
    session = contract.sessions(job, lambda: open_session(job, cookies), httpx.Client.close)

    def send(request):
        if "cookies" not in job.get("keep", []):
            cookies.clear()

        def ask():
            found = client.request(
                request.get("method", "GET"),
                request["url"],
                headers=[(contract.raw(name), contract.raw(value)) for name, value in contract.pairs(request)],
                content=contract.body(request),
                follow_redirects=job.get("settings", {}).get("follow", False),
            )
            return contract.response(
                found.status_code,
                found.headers.raw,
                found.content,
                reason=found.extensions.get("reason_phrase"),
                version=found.http_version.removeprefix("HTTP/"),
                url=str(found.url),
            )

        with session() as client:
            return contract.attempt(job, ask, KINDS)

    return send


KINDS = [(httpx.TimeoutException, "timeout"), (httpx.TooManyRedirects, "tooMany")]

contract.serve(
    {
        "name": NAME,
        "version": f"{httpx.__version__} with {CORE} {httpcore.__version__}",
        "codings": httpx.Client(trust_env=False).headers["Accept-Encoding"].split(", "),
    },
    open_client,
)
