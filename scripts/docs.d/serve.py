#!/usr/bin/env python3
"""Serves a folder on a free port of 127.0.0.1: serve.py FOLDER [--open]"""

import functools
import http.server
import sys
import threading
import webbrowser


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def server(folder):
    return http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))


def main(folder, *options):
    with server(folder) as site:
        address = f"http://127.0.0.1:{site.server_address[1]}/documentation/"
        print(address, flush=True)
        if "--open" in options:
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        try:
            site.serve_forever()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main(*sys.argv[1:])
