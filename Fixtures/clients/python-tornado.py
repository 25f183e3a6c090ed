"""Python tornado, with its own client (simple_httpclient). For scripts/cve-check: it has no row of its own."""

import asyncio
import ssl

import contract
import tornado
from tornado import httputil, simple_httpclient


def open_client(job):
    contract.require(
        job, settings={"follow", "decode", "versions", "certificate", "resume", "redirects.downgrade"}
    )
    contract.leave_old_versions(job)
    contract.replace_lookup(job)
    settings = job.get("settings", {})

    def send(request):
        fields = httputil.HTTPHeaders()
        for name, value in contract.pairs(request):
            fields.add(name, value)
        body = contract.body(request)
        if request.get("stream"):
            body = b"".join(body)

        async def ask():
            client = simple_httpclient.SimpleAsyncHTTPClient(force_instance=True)
            try:
                context = ssl.create_default_context(cafile=job["roots"])
                return await client.fetch(
                    request["url"],
                    method=request.get("method", "GET"),
                    headers=fields,
                    body=body,
                    allow_nonstandard_methods=True,
                    follow_redirects=settings.get("follow", False),
                    decompress_response=settings.get("decode", False),
                    request_timeout=job["timeout"] / 1000,
                    connect_timeout=job["timeout"] / 1000,
                    ssl_options=contract.prepare_context(context, job),
                    raise_error=False,
                )
            finally:
                client.close()

        def answer():
            try:
                found = asyncio.run(ask())
            except Exception as error:  # Its futures lose where an error comes from.
                kind = next((word for types, word in KINDS if isinstance(error, types)), contract.kind_of(error))
                return contract.failed(kind, f"{type(error).__name__}: {error}")
            status = found.code if 0 <= found.code < 1000 else None
            headers = found.headers.get_all()
            return contract.response(status, headers, found.body, reason=found.reason, url=found.effective_url)

        return contract.attempt(job, answer, KINDS)

    return send


KINDS = [(simple_httpclient.HTTPTimeoutError, "timeout")]

contract.serve({"name": "tornado", "version": tornado.version, "codings": ["gzip"]}, open_client)
