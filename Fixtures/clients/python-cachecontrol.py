"""Python CacheControl, the cache for requests, with its cache in memory. It is tried as a cache only."""

import cachecontrol
import cachecontrol.cache
import cachecontrol.controller
import contract
import requests

cachecontrol.controller.time = contract.Clock()


def open_client(job):
    contract.require_cache(job)
    contract.replace_lookup(job)
    session = requests.Session()
    session.trust_env = False
    session.verify = job["roots"]
    client = cachecontrol.CacheControl(session, cache=cachecontrol.cache.DictCache())
    job["close"](client.close)

    def send(request):
        headers = contract.single_fields(request)

        def ask():
            found = client.request(
                request.get("method", "GET"),
                request["url"],
                headers=headers,
                data=contract.body(request),
                allow_redirects=False,
                timeout=job["timeout"] / 1000,
            )
            return contract.response(found.status_code, found.raw.headers.items(), found.content, reason=found.reason)

        return contract.attempt(job, ask, [(requests.Timeout, "timeout")])

    return send


contract.serve(
    {
        "name": "CacheControl",
        "version": f"{cachecontrol.__version__} with requests {requests.__version__}",
        "codings": [],
    },
    open_client,
)
