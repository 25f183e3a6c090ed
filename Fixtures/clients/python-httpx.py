"""Python httpx, through a Client."""

import http.cookiejar
import ssl

import contract
import httpcore
import httpx

http.cookiejar.time = contract.Clock()


def open_session(job, cookies):
    settings = job.get("settings", {})
    context = contract.prepare_context(ssl.create_default_context(cafile=job["roots"]), job)
    options = {}
    if "limit" in settings.get("redirects", {}):
        options["max_redirects"] = settings["redirects"]["limit"]
    return httpx.Client(
        verify=context,
        trust_env=False,
        cookies=cookies,
        headers=[(contract.raw(name), contract.raw(value)) for name, value in settings.get("headers", [])],
        timeout=job["timeout"] / 1000,
        **options,
    )


def open_client(job):
    contract.require(
        job,
        settings={"follow", "decode", "versions", "certificate", "resume", "headers", "redirects.limit"},
        keep={"connections", "cookies"},
        time=True,
    )
    contract.replace_lookup(job)
    keep = job.get("keep", [])
    cookies = http.cookiejar.CookieJar()
    kept = open_session(job, cookies)

    def send(request):
        if "cookies" not in keep:
            cookies.clear()
        session = kept if "connections" in keep else open_session(job, cookies)
        try:
            with contract.deadline(job):
                found = session.request(
                    request.get("method", "GET"),
                    request["url"],
                    headers=[(contract.raw(name), contract.raw(value)) for name, value in contract.pairs(request)],
                    content=contract.body(request),
                    follow_redirects=job.get("settings", {}).get("follow", False),
                )
        except (Exception, contract.Deadline) as error:
            return contract.failure(error, KINDS)
        finally:
            if session is not kept:
                session.close()
        return contract.response(
            found.status_code,
            found.headers.raw,
            found.content,
            reason=found.extensions.get("reason_phrase"),
            version=found.http_version.removeprefix("HTTP/"),
            url=str(found.url),
        )

    job["close"](kept.close)
    return send


KINDS = [(httpx.TimeoutException, "timeout"), (httpx.TooManyRedirects, "tooMany")]

contract.serve(
    {
        "name": "httpx",
        "version": f"{httpx.__version__} with httpcore {httpcore.__version__}",
        "codings": httpx.Client(trust_env=False).headers["Accept-Encoding"].split(", "),
    },
    open_client,
)
