#!/usr/bin/env python3
"""Looks at the site in a headless browser: browser.py SITE BROWSER

Each page must show its texts, and the browser must report no error and ask no other server.
"""

import re
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True

from serve import server

PAGES = {
    "/documentation/": ["DirectHTTP", "DirectResolvers", "DirectHTTPFoundation", "TLSFixtures"],
    "/documentation/directhttp/": ["two values", "two-values", "First steps", "Where the bytes go"],
    "/documentation/directhttp/httpclient/": ["Request", "BufferedResponse"],
    "/documentation/directhttp/endpoint/": ["Endpoint", "port"],
    "/documentation/directhttp/tls/": ["Trusted roots", "certificate"],
    "/documentation/directresolvers/dnsoverhttps/": ["DNSOverHTTPS"],
    "/documentation/tlsfixtures/": ["FixtureServer"],
    "/tutorials/directhttp/first-request/": ["Your first request to an address", "203.0.113.7"],
}


def main(folder, browser):
    with server(folder) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{site.server_address[1]}"
        faults = [fault for path, texts in PAGES.items() for fault in look(browser, origin, path, texts)]
        site.shutdown()
    if faults:
        sys.exit("\n".join(f"docs: {fault}" for fault in faults))
    print(f"docs: {len(PAGES)} pages look right in {browser}")


def look(browser, origin, path, texts):
    page, log = render(browser, origin + path)
    shown = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    for text in texts:
        if text not in shown:
            yield f"{path} does not show {text!r}"
    for line in log.splitlines():
        if "CONSOLE" in line and ("rror" in line or "refused" in line):
            yield f"{path}: {line.strip()}"


def render(browser, address):
    with tempfile.TemporaryDirectory(prefix="direct-http-docs-", ignore_cleanup_errors=True) as profile:
        done = subprocess.run(
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--enable-logging=stderr",
             # No page may need another server.
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
             "--virtual-time-budget=20000", "--dump-dom", address],
            capture_output=True, text=True, timeout=120, check=False,
        )
    return done.stdout, done.stderr


if __name__ == "__main__":
    main(*sys.argv[1:])
