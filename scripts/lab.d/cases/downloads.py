"""Partial files of downloads, among other processes and users."""

import os
import subprocess

from kit import ALICE, BOUND, FOLDER, MALLORY, Client, Film, Skipped, as_user, case, copied_client, failed, same, true
from kit import until


@case()
def part_mode():
    """A download that asks for mode 0600 has it, also if a partial file with a wider mode was left over."""
    film, path = Film(), FOLDER / "film"
    film.leave_part(Client(), path, mode=0o666)
    film.finish(Client(), path, mode=0o600)
    same("mode", oct(path.stat().st_mode & 0o777), "0o600")


@case()
def part_shared():
    """A second process is refused a download in progress, and continues it once the first has been killed."""
    film, path, first, second = Film(), FOLDER / "film", Client(), Client()
    film.begin(first, path)
    failed(second.call(film.url, kind="download", path=str(path)), "in progress")
    film.kill(first, path)
    film.finish(second, path)
    true("the last range begins", "after the start", film.starts[-1] > 0, film.starts)
    same("partial files", [each.name for each in FOLDER.glob("film.part*") if not each.name.endswith(".tmp")], [])


@case(root=True)
def part_planted():
    """A partial file and record that another user has planted are not continued: content and owner are the caller's."""
    program, film = copied_client(), Film()
    # As /tmp is, and without the sticky bit: with it the caller cannot remove the part, and the kernel may refuse to open it
    # (proc(5), protected_regular).
    for mode in (0o777, 0o1777):
        path = FOLDER / f"{mode:o}" / "film"
        path.parent.mkdir()
        path.parent.chmod(mode)
        film.content = b"E" * Film.SIZE
        film.leave_part(Client(program, as_user(MALLORY)), path, mode=0o666)
        film.content = b"G" * Film.SIZE
        film.finish(Client(program, as_user(ALICE)), path)
        same("owner, and write permission of others", (path.stat().st_uid, path.stat().st_mode & 0o022), (ALICE, 0))

OPTIONS = [f"--force-user={MALLORY}", f"--force-group={MALLORY}", "--perms=a=rwx", "--chmod-ignore", "--chown-ignore"]

@case(space="mount", root=True, tools=("bindfs",))
def invented_owners():
    """A download works, also after one that was killed, in a mount that shows every file as another user's and 0777,
    like vfat."""
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
