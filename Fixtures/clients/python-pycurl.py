"""pycurl, libcurl from Python, through a Curl object."""

import io

import contract
import pycurl

VERSIONS = {
    "1.0": (pycurl.SSLVERSION_TLSv1_0, pycurl.SSLVERSION_MAX_TLSv1_0),
    "1.1": (pycurl.SSLVERSION_TLSv1_1, pycurl.SSLVERSION_MAX_TLSv1_1),
    "1.2": (pycurl.SSLVERSION_TLSv1_2, pycurl.SSLVERSION_MAX_TLSv1_2),
    "1.3": (pycurl.SSLVERSION_TLSv1_3, pycurl.SSLVERSION_MAX_TLSv1_3),
}


def places(job):
    """Where curl connects, and what its look-up finds. Several addresses of a host share a port."""
    to, found = [], []
    for number, (endpoint, targets) in enumerate(job["connect"].items()):
        host, _, port = endpoint.rpartition(":")
        ends = [target.rpartition(":") for target in targets]
        if len({end[2] for end in ends}) > 1:
            raise contract.Leave("it cannot be told addresses of one host with different ports")
        # Port 0 cannot be connected to.
        name, real_port = f"several-{number}.invalid", ends[0][2] if ends else "0"
        found.append(f"{name}:{real_port}:{','.join(end[0] for end in ends) or '127.0.0.1'}")
        to += [f"{each}:{port}:{name}:{real_port}" for each in (host.rstrip("."), host.rstrip(".") + ".")]
    return [*to, "::127.0.0.1:0"], found


def fields(pairs):
    # A field without value has a semicolon here; with a colon, libcurl would send none.
    lines = [f"{name}: {value}" if value.strip(" \t") else f"{name};" for name, value in pairs]
    return [contract.raw(line) for line in lines]


def set_trust(curl, settings):
    proxy, told = settings.get("proxy"), settings.get("credentials")
    curl.setopt(pycurl.PROXY, proxy["at"] if proxy else "")
    if proxy and "user" in proxy:
        curl.setopt(pycurl.PROXYUSERNAME, proxy["user"].encode())
        curl.setopt(pycurl.PROXYPASSWORD, proxy["password"].encode())
        curl.setopt(pycurl.PROXYAUTH, pycurl.HTTPAUTH_DIGEST if proxy.get("digest") else pycurl.HTTPAUTH_BASIC)
    if told:
        schemes = {"basic": pycurl.HTTPAUTH_BASIC, "digest": pycurl.HTTPAUTH_DIGEST}
        curl.setopt(pycurl.USERNAME, told["user"].encode())
        curl.setopt(pycurl.PASSWORD, told["password"].encode())
        curl.setopt(pycurl.HTTPAUTH, schemes.get("".join(told.get("schemes", [])), pycurl.HTTPAUTH_ANY))


def set_job(curl, job):
    settings, keep = job.get("settings", {}), job.get("keep", [])
    if "proxy" not in settings:  # It is given names, and looks them up.
        to, found = places(job)
        curl.setopt(pycurl.CONNECT_TO, to)
        curl.setopt(pycurl.RESOLVE, found)
    set_trust(curl, settings)
    curl.setopt(pycurl.CAINFO, job["roots"])
    curl.unsetopt(pycurl.CAPATH)
    curl.setopt(pycurl.TIMEOUT_MS, job["timeout"])
    curl.setopt(pycurl.NOSIGNAL, 1)
    curl.setopt(pycurl.FOLLOWLOCATION, settings.get("follow", False))
    if "limit" in settings.get("redirects", {}):
        curl.setopt(pycurl.MAXREDIRS, settings["redirects"]["limit"])
    if settings.get("decode"):
        curl.setopt(pycurl.ACCEPT_ENCODING, "")
    curl.setopt(pycurl.FRESH_CONNECT, "connections" not in keep)
    curl.setopt(pycurl.FORBID_REUSE, "connections" not in keep)
    curl.setopt(pycurl.SSL_SESSIONID_CACHE, 0)
    if "cookies" in keep:
        curl.setopt(pycurl.COOKIEFILE, "")
    if "versions" in settings:
        lowest, highest = (VERSIONS[version] for version in settings["versions"])
        curl.setopt(pycurl.SSLVERSION, lowest[0] | highest[1])
    if "certificate" in settings:
        curl.setopt(pycurl.SSLCERT, settings["certificate"])
        curl.setopt(pycurl.SSLKEY, settings["certificate"])


def set_request(curl, request):
    method, content = contract.raw(request.get("method", "GET")), request.get("body")
    if content is not None and (request.get("stream") or method == b"PUT"):
        data = io.BytesIO(contract.raw(content))
        curl.setopt(pycurl.UPLOAD, 1)
        curl.setopt(pycurl.READFUNCTION, data.read)
        if not request.get("stream"):
            curl.setopt(pycurl.INFILESIZE_LARGE, len(content))
            # A body that can be read again is, for a redirect that keeps it.
            curl.setopt(pycurl.SEEKFUNCTION, lambda offset, origin: data.seek(offset, origin) and None)
        if method != b"PUT":
            curl.setopt(pycurl.CUSTOMREQUEST, method)
    elif content is not None or method == b"POST":
        curl.setopt(pycurl.POSTFIELDS, contract.raw(content or ""))
        if method != b"POST":
            curl.setopt(pycurl.CUSTOMREQUEST, method)
    elif method == b"HEAD":
        curl.setopt(pycurl.NOBODY, 1)
    elif method != b"GET":
        curl.setopt(pycurl.CUSTOMREQUEST, method)


def open_client(job):
    settings, keep = job.get("settings", {}), job.get("keep", [])
    known = {"follow", "decode", "versions", "certificate", "resume", "headers", "proxy", "credentials"}
    contract.require(
        job,
        settings=known | {"redirects.limit", "redirects.downgrade"},
        keep={"connections", "cookies"},
    )
    if settings.get("proxy", {}).get("addresses"):
        raise contract.Leave("it gives a proxy names only")
    kept = {"connections", "cookies"} & set(keep)
    curl = pycurl.Curl()
    job["close"](lambda: curl.close())

    def send(request):
        nonlocal curl
        if kept:
            curl.reset()  # What it holds stays.
            if "cookies" not in kept:
                curl.setopt(pycurl.COOKIELIST, "ALL")
        else:
            curl.close()
            curl = pycurl.Curl()
        pairs = settings.get("headers", []) + request.get("headers", [])
        if any("\0" in text for text in [request["url"], request.get("method", ""), *sum(pairs, [])]):
            raise contract.Leave("a text of C has no NUL")
        content, lines = io.BytesIO(), []
        set_job(curl, job)
        set_request(curl, request)
        curl.setopt(pycurl.URL, request["url"].encode())
        curl.setopt(pycurl.HTTPHEADER, fields(pairs))
        curl.setopt(pycurl.WRITEFUNCTION, content.write)
        curl.setopt(pycurl.HEADERFUNCTION, lines.append)
        try:
            curl.perform()
        except pycurl.error as error:
            code, text = error.args
            return contract.failed(KINDS.get(code) or contract.alert(text), f"curl {code}: {text}")
        # The head of the response is the last one; trailers follow an empty line, and are no part of it.
        start = max((index for index, line in enumerate(lines) if line[:5].lower() == b"http/"), default=0)
        end = next((index for index, line in enumerate(lines) if index > start and not line.strip(b"\r\n")), len(lines))
        version, status, reason, found = contract.parse_head(b"".join(lines[start:end]).removesuffix(b"\n"))
        status = status if status is not None else curl.getinfo(pycurl.RESPONSE_CODE)
        url = curl.getinfo(pycurl.EFFECTIVE_URL)
        return contract.response(status, found, content.getvalue(), reason=reason, version=version, url=url)

    return send


KINDS = {
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_GOT_NOTHING: "closed",
    pycurl.E_PARTIAL_FILE: "incomplete",
    pycurl.E_TOO_MANY_REDIRECTS: "tooMany",
}

contract.serve(
    {
        "name": "pycurl",
        "version": f"{pycurl.version.split()[0].partition('/')[2]} with libcurl {pycurl.version_info()[1]}, {pycurl.version_info()[5]}",
        "codings": ["gzip", "deflate", "br"],
    },
    open_client,
)
