"""A download works, also after one that was killed, in a mount that shows every file as another user's and 0777, like vfat."""

import os
import subprocess

from kit import ALICE, BOUND, FOLDER, MALLORY, Client, Film, Skipped, as_user, copied_client, until

ROOT = True
SPACE, TOOLS = "mount", ("bindfs",)
OPTIONS = [f"--force-user={MALLORY}", f"--force-group={MALLORY}", "--perms=a=rwx", "--chmod-ignore", "--chown-ignore"]


def run():
    real, shown = FOLDER / "real", FOLDER / "shown"
    for folder in (real, shown):
        folder.mkdir()
    os.chown(real, ALICE, ALICE)
    words = [*BOUND, "bindfs", "-f", *OPTIONS, "-o", "allow_other", str(real), str(shown)]
    mount = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    until("the mount", lambda: os.path.ismount(shown) or mount.poll() is not None)
    if mount.poll() is not None:
        raise Skipped(f"bindfs: {mount.stderr.read().strip()}")
    program, film, path = copied_client(), Film(), shown / "film"
    killed = Client(program, as_user(ALICE))
    film.begin(killed, path)
    killed.kill()
    film.limit = None
    film.finish(Client(program, as_user(ALICE)), path)
