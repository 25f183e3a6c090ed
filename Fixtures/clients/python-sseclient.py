"""Python sseclient-py, which reads server-sent events from a response of requests."""

import importlib.metadata

import contract
import requests
import sseclient


def open_client(job):
    contract.require_events(job)
    contract.replace_lookup(job)
    session = requests.Session()
    session.trust_env = False
    session.verify = job["roots"]
    job["close"](session.close)

    def send(request):
        def ask():
            found = session.get(request["url"], stream=True, timeout=job["timeout"] / 1000)
            events = [[event.event, event.data, event.id or ""] for event in sseclient.SSEClient(found).events()]
            return contract.response(found.status_code, found.raw.headers.items(), b"") | {"events": events}

        return contract.attempt(job, ask, [(requests.Timeout, "timeout")])

    return send


version = importlib.metadata.version("sseclient-py")
contract.serve({"name": "sseclient-py", "version": f"{version} with requests {requests.__version__}", "codings": []}, open_client)
