"""Python requests, or with the argument niquests that, through a Session."""

import http.cookiejar
import importlib
import sys

import contract
import urllib3

# Its author keeps the names of requests.
NAME = "niquests" if sys.argv[1:] == ["niquests"] else "requests"
requests = importlib.import_module(NAME)

http.cookiejar.time = contract.Clock()


class Adapter(requests.adapters.HTTPAdapter):
    """The way that requests documents to choose versions of TLS."""

    def __init__(self, context):
        self.context = context
        super().__init__()

    def init_poolmanager(self, *arguments, **options):
        super().init_poolmanager(*arguments, ssl_context=self.context, **options)


def open_session(job):
    settings = job.get("settings", {})
    session = requests.Session()
    session.trust_env = False  # No proxies, roots and passwords of the environment.
    session.verify = job["roots"]
    session.cert = settings.get("certificate")
    session.headers.update(dict(settings.get("headers", [])))
    session.max_redirects = settings.get("redirects", {}).get("limit", session.max_redirects)
    told = contract.credentials(job)
    if told:
        # A text for Basic would be sent in Latin-1.
        basic = requests.auth.HTTPBasicAuth(*(part.encode() for part in told[:2]))
        session.auth = requests.auth.HTTPDigestAuth(*told[:2]) if told[2] == "digest" else basic
    proxy = contract.proxy(job)
    if proxy:
        place = proxy[0].replace("://", f"://{proxy[1]}:{proxy[2]}@") if proxy[1] else proxy[0]
        session.proxies = {"http": place, "https": place}
    if "versions" in settings:
        context = contract.prepare_context(
            urllib3.util.ssl_.create_urllib3_context(), {"settings": {"versions": settings["versions"]}}
        )
        session.mount("https://", Adapter(context))
    return session


def open_client(job):
    contract.require(job, settings=contract.ALL_SETTINGS | {"proxy", "credentials"}, keep={"connections", "cookies"}, time=True)
    contract.leave_old_versions(job)
    contract.replace_lookup(job)
    session = contract.sessions(job, lambda: open_session(job), requests.Session.close)
    cookies = requests.cookies.RequestsCookieJar()

    def send(request):
        headers = contract.single_fields(request)
        if "cookies" not in job.get("keep", []):
            cookies.clear()

        def ask():
            found = client.request(
                request.get("method", "GET"),
                request["url"],
                headers=headers,
                data=contract.body(request),
                allow_redirects=job.get("settings", {}).get("follow", False),
                timeout=job["timeout"] / 1000,
            )
            return contract.response(
                found.status_code,
                found.raw.headers.items(),
                found.content,
                reason=found.reason,
                version={10: "1.0", 11: "1.1"}.get(found.raw.version),
                url=found.url,
            )

        with session() as client:
            client.cookies = cookies
            return contract.attempt(job, ask, KINDS)

    return send


KINDS = [
    (requests.Timeout, "timeout"),
    (requests.TooManyRedirects, "tooMany"),
    (urllib3.exceptions.IncompleteRead, "incomplete"),
]

contract.serve(
    {
        "name": NAME,
        "version": f"{requests.__version__} with urllib3{'.future' * (NAME == 'niquests')} {urllib3.__version__}",
        "codings": requests.utils.default_headers()["Accept-Encoding"].split(", "),
    },
    open_client,
)
