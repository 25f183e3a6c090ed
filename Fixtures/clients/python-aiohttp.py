"""Python aiohttp, through a ClientSession."""

import asyncio
import socket
import ssl

import aiohttp
import aiohttp.cookiejar
import contract

aiohttp.cookiejar.time = contract.Clock()


class Connector(aiohttp.TCPConnector):
    """A connector whose addresses are those of the job, also for a URL with an address."""

    def __init__(self, job, **options):
        self.job = job
        super().__init__(**options)

    async def _resolve_host(self, host, port, traces=None):
        found = [
            {
                "hostname": host,
                "host": address,
                "port": real_port,
                "family": socket.AF_INET6 if ":" in address else socket.AF_INET,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST,
            }
            for address, real_port in contract.addresses(self.job, host, port)
        ]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, f"{host}:{port} is not in the job")
        return found


def open_session(job, cookies):
    context = contract.prepare_context(ssl.create_default_context(cafile=job["roots"]), job)
    told, more = contract.credentials(job), {}
    if told and told[2] == "digest":
        more["middlewares"] = (aiohttp.DigestAuthMiddleware(*told[:2]),)
    return aiohttp.ClientSession(
        connector=Connector(job, ssl=context), cookie_jar=cookies, headers=job.get("settings", {}).get("headers"), **more
    )


def open_client(job):
    contract.require(
        job,
        settings=contract.ALL_SETTINGS | {"proxy", "credentials"},
        keep={"connections", "cookies"},
        time=True,
    )
    keep = job.get("keep", [])
    loop = asyncio.new_event_loop()
    job["close"](loop.close)

    async def open_all():
        cookies = aiohttp.CookieJar()
        return cookies, open_session(job, cookies)

    cookies, kept = loop.run_until_complete(open_all())
    job["close"](lambda: loop.run_until_complete(kept.close()))

    async def send(request):
        headers = contract.pairs(request)
        if not all(value.isascii() for _, value in headers):
            raise contract.Leave("it sends fields as UTF-8 only")
        if "cookies" not in keep:
            cookies.clear()
        session = kept if "connections" in keep else open_session(job, cookies)
        try:
            return await exchange(job, request, session, headers)
        finally:
            if session is not kept:
                await session.close()

    return lambda request: loop.run_until_complete(send(request))


async def exchange(job, request, session, headers):
    settings = job.get("settings", {})
    options = {}
    if "limit" in settings.get("redirects", {}):
        options["max_redirects"] = (
            settings["redirects"]["limit"] + 1
        )  # It refuses the redirect that reaches this number.
    proxy, told = contract.proxy(job), contract.credentials(job)
    if told and told[2] == "basic":
        # Those of a session would be for all origins.
        options["auth"] = aiohttp.BasicAuth(*told[:2], encoding="utf-8")
    if proxy:
        options |= {"proxy": proxy[0], "proxy_auth": aiohttp.BasicAuth(*proxy[1:]) if proxy[1] else None}
    content = contract.body(request)
    try:
        async with session.request(
            request.get("method", "GET"),
            request["url"],
            headers=headers,
            data=stream(content) if request.get("stream") and content else content,
            allow_redirects=settings.get("follow", False),
            timeout=aiohttp.ClientTimeout(total=job["timeout"] / 1000),
            **options,
        ) as found:
            received = await found.read()
    except Exception as error:
        return contract.failure(error, KINDS)
    return contract.response(
        found.status,
        found.raw_headers,
        received,
        reason=(found.reason or "").encode("utf-8", "surrogateescape"),
        version=f"{found.version.major}.{found.version.minor}",
        url=str(found.url),
    )


async def stream(parts):
    for part in parts:
        yield part


KINDS = [(asyncio.TimeoutError, "timeout"), (aiohttp.TooManyRedirects, "tooMany")]

contract.serve(
    {
        "name": "aiohttp",
        "version": aiohttp.__version__,
        "codings": aiohttp.ClientRequest.DEFAULT_HEADERS["Accept-Encoding"].replace(" ", "").split(","),
    },
    open_client,
)
