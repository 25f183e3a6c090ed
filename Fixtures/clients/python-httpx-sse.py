"""Python httpx-sse, which reads server-sent events with httpx."""

import importlib.metadata
import ssl

import contract
import httpx
import httpx_sse


def open_client(job):
    contract.require_events(job)
    contract.replace_lookup(job)
    client = httpx.Client(
        verify=ssl.create_default_context(cafile=job["roots"]), trust_env=False, timeout=job["timeout"] / 1000
    )
    job["close"](client.close)

    def send(request):
        def ask():
            with httpx_sse.connect_sse(client, request.get("method", "GET"), request["url"]) as source:
                events = [[event.event, event.data, event.id] for event in source.iter_sse()]
                found = source.response
                return contract.response(found.status_code, found.headers.raw, b"") | {"events": events}

        return contract.attempt(job, ask, [(httpx.TimeoutException, "timeout")])

    return send


version = importlib.metadata.version("httpx-sse")
contract.serve({"name": "httpx-sse", "version": f"{version} with httpx {httpx.__version__}", "codings": []}, open_client)
