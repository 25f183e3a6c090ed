"""Python hishel, the cache for httpx, with its storage in memory. It is tried as a cache only."""

import importlib.metadata
import sqlite3
import ssl

import contract
import hishel
import hishel._core._spec
import hishel._core._storages._sync_sqlite
import httpx
from hishel.httpx import CacheClient

for module in (hishel._core._spec, hishel._core._storages._sync_sqlite):
    module.time = contract.Clock()


def open_client(job):
    contract.require_cache(job)
    contract.replace_lookup(job)
    client = CacheClient(
        storage=hishel.SqliteStorage(connection=sqlite3.connect(":memory:", check_same_thread=False)),
        rfc={"shared": False},
        verify=ssl.create_default_context(cafile=job["roots"]),
        trust_env=False,
        timeout=job["timeout"] / 1000,
    )
    job["close"](client.close)

    def send(request):
        def ask():
            found = client.request(
                request.get("method", "GET"),
                request["url"],
                headers=[(contract.raw(name), contract.raw(value)) for name, value in contract.pairs(request)],
                content=contract.body(request),
            )
            return contract.response(found.status_code, found.headers.raw, found.content)

        return contract.attempt(job, ask, [(httpx.TimeoutException, "timeout")])

    return send


contract.serve(
    {
        "name": "hishel",
        "version": f"{importlib.metadata.version('hishel')} with httpx {httpx.__version__}",
        "codings": [],
    },
    open_client,
)
