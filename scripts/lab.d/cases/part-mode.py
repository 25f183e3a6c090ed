"""A download that asks for mode 0600 has it, also if a partial file with a wider mode was left over."""

from kit import FOLDER, Client, Film, same


def run():
    film, path = Film(), FOLDER / "film"
    film.leave_part(Client(), path, mode=0o666)
    film.finish(Client(), path, mode=0o600)
    same("mode", oct(path.stat().st_mode & 0o777), "0o600")
