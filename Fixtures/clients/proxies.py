"""Some proxies as commands for proxied.py: proxies.py NAME HOST:PORT=ADDRESS:PORT …, or proxies.py NAME --version.

Each listens at an address of 127.0.0.0/8 that no other process takes. They have what their documentation says for a proxy, and
connections to servers are kept. A forward proxy that cannot be told where a name leads is led there by preload.so.
"""

import contextlib
import glob
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))


def haproxy(at, routes, folder):
    rules = "\n".join(
        f" use_backend b{n} if {{ req.hdr(host) -i {name} {name.removesuffix(':80')} {name.removesuffix(':80').replace(':', '.:')} }}"
        for n, name in enumerate(routes)
    )
    servers = "\n".join(f"backend b{n}\n server s {target}" for n, target in enumerate(routes.values()))
    return ["haproxy", "-db", "-f", "{config}"], f"""
defaults
 mode http
 timeout connect 5s
 timeout client 30s
 timeout server 30s
frontend f
 bind {at}
{rules}
{servers}
"""


def nginx(at, routes, folder):
    names = "\n".join(
        f"  {spelling} s{n};" for n, name in enumerate(routes) for spelling in {name, name.removesuffix(":80")}
    )
    servers = "\n".join(f" upstream s{n} {{ server {target}; keepalive 4; }}" for n, target in enumerate(routes.values()))
    return ["nginx", "-p", folder, "-e", "stderr", "-c", "{config}"], f"""
daemon off;
master_process off;
pid {folder}/pid;
events {{ worker_connections 64; }}
http {{
 access_log off;
{servers}
 map $http_host $server {{
{names}
 }}
 server {{
  listen {at};
  location / {{
   proxy_pass http://$server;
   proxy_http_version 1.1;
   proxy_set_header Host $http_host;
   proxy_set_header Connection "";
  }}
 }}
}}
"""


def squid(at, routes, folder):
    hosts = list(dict.fromkeys(name.rpartition(":")[0] for name in routes))
    first = [next(n for n, name in enumerate(routes) if name.rpartition(":")[0] == host) for host in hosts]
    with open(f"{folder}/hosts", "w") as file:
        file.writelines(f"240.0.{number}.0 {host}\n" for number, host in zip(first, hosts))
    # Its shared memory has a name of its own, and stays when it is killed: what earlier ones have left is removed.
    for file in glob.glob("/dev/shm/judged[0-9]*-*"):
        if not os.path.exists("/proc/" + re.search("judged([0-9]+)", file)[1]):
            with contextlib.suppress(FileNotFoundError):
                os.remove(file)
    return ["squid", "-N", "-n", f"judged{os.getpid()}", "-f", "{config}"], f"""
http_port {at}
http_access allow all
cache deny all
cache_mem 0
memory_cache_shared off
access_log none
cache_log /dev/null
cache_store_log none
pid_filename none
coredump_dir {folder}
pinger_enable off
hosts_file {folder}/hosts
dns_nameservers 127.0.0.1
visible_hostname proxy.test
"""


def tinyproxy(at, routes, folder):
    host, _, port = at.rpartition(":")
    return ["tinyproxy", "-d", "-c", "{config}"], f"Listen {host}\nPort {port}\nTimeout 30\nLogLevel Critical\nLogFile \"{folder}/log\"\n"


KINDS = {"haproxy": "gateway ", "nginx": "gateway ", "squid": "", "tinyproxy": ""}
VERSIONS = {"haproxy": "-v", "nginx": "-v", "squid": "-v", "tinyproxy": "-v", "direct-proxy": "--version"}


def start(name, words, preload):
    routes = dict(word.split("=", 1) for word in words)
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o777)
    number = os.getpid()
    at = f"127.{100 + (number >> 16) % 100}.{number >> 8 & 255}.{number & 255}:3128"
    command, text = {"haproxy": haproxy, "nginx": nginx, "squid": squid, "tinyproxy": tinyproxy}[name](at, routes, folder)
    with open(f"{folder}/config", "w") as file:
        file.write(text)
    environment = dict(os.environ)
    if not KINDS[name]:
        environment |= {"LD_PRELOAD": preload, "CLIENT_CONNECT": ";".join(words)}
    proxy = subprocess.Popen([word.format(config=f"{folder}/config") for word in command], env=environment, stdout=sys.stderr)
    host, _, port = at.rpartition(":")
    while proxy.poll() is None:
        try:
            socket.create_connection((host, int(port))).close()
            print(f"{KINDS[name]}http://{at}", flush=True)
            break
        except ConnectionRefusedError:
            time.sleep(0.01)
    proxy.wait()


def main(preload, name, *words):
    os.environ["PATH"] += ":/usr/sbin"
    program = os.environ.get("DIRECT_PROXY", "direct-proxy") if name == "direct-proxy" else name
    if words == ("--version",):
        told = subprocess.run([program, VERSIONS[name]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        print(name, re.search(r"[0-9]+[.][0-9]+[.0-9]*", told)[0])
    elif name == "direct-proxy":
        maps = [part for word in words for part in ("--resolve", word.replace("=", ":"))]
        os.execvp(program, [program, "--open", "--quiet", "--refuse-others", *maps])
    else:
        start(name, words, preload)


main(*sys.argv[1:])
