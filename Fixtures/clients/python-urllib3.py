"""Python urllib3, through a PoolManager."""

import contract
import urllib3
from urllib3._collections import HTTPHeaderDict  # Public since 2.0 only.
from urllib3.util import request as requests
from urllib3.util.ssl_ import create_urllib3_context


# Before 1.25 it had no name.
ACCEPT_ENCODING = getattr(requests, "ACCEPT_ENCODING", "gzip,deflate")


def open_pool(job):
    context = None
    if "versions" in job.get("settings", {}):
        context = contract.prepare_context(
            create_urllib3_context(), {"settings": {"versions": job["settings"]["versions"]}}
        )
    options = {"ca_certs": job["roots"], "cert_file": job.get("settings", {}).get("certificate"), "ssl_context": context}
    proxy = contract.proxy(job)
    if not proxy:
        return urllib3.PoolManager(**options)
    fields = urllib3.make_headers(proxy_basic_auth=f"{proxy[1]}:{proxy[2]}") if proxy[1] else None
    return urllib3.ProxyManager(proxy[0], proxy_headers=fields, **options)


def open_client(job):
    contract.require(
        job,
        settings={"follow", "decode", "versions", "certificate", "resume", "redirects.limit", "redirects.downgrade", "proxy"},
        keep={"connections"},
    )
    contract.leave_old_versions(job)
    contract.replace_lookup(job)
    settings = job.get("settings", {})
    kept = open_pool(job)

    def send(request):
        pool = kept if "connections" in job.get("keep", []) else open_pool(job)
        pairs = contract.pairs(request)
        if settings.get("decode") and "accept-encoding" not in {name.lower() for name, _ in pairs}:
            pairs.append(("Accept-Encoding", ACCEPT_ENCODING))
        headers = dict(pairs)  # What most callers give.
        if len({name.lower() for name, _ in pairs}) < len(pairs):
            headers = HTTPHeaderDict()
            for name, value in pairs:
                headers.add(name, value)
        options = {}
        if "limit" in settings.get("redirects", {}):
            options["retries"] = urllib3.Retry(redirect=settings["redirects"]["limit"])
        try:
            with contract.deadline(job):
                found = pool.request(
                    request.get("method", "GET"),
                    request["url"],
                    headers=headers,
                    body=contract.body(request),
                    redirect=settings.get("follow", False),
                    timeout=job["timeout"] / 1000,
                    **options,
                )
                content = found.data
        except (Exception, contract.Deadline) as error:
            return contract.failure(error, KINDS)
        finally:
            if pool is not kept:
                pool.clear()
        return contract.response(
            found.status,
            found.headers.items(),
            content,
            reason=found.reason,
            version={10: "1.0", 11: "1.1"}.get(found.version),
        )

    job["close"](kept.clear)
    return send


# A NewConnectionError is a ConnectTimeoutError for reasons of history, so that one says nothing.
KINDS = [(urllib3.exceptions.ReadTimeoutError, "timeout"), (urllib3.exceptions.IncompleteRead, "incomplete")]

contract.serve(
    {"name": "urllib3", "version": urllib3.__version__, "codings": ACCEPT_ENCODING.split(",")}, open_client
)
