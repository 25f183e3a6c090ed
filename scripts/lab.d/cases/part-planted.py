"""A partial file and record that another user has planted are not continued: content and owner are the caller's."""

from kit import ALICE, FOLDER, MALLORY, Client, Film, as_user, copied_client, same

ROOT = True


def run():
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
