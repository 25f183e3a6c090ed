"""A second process is refused a download in progress, and continues it once the first has been killed."""

from kit import FOLDER, Client, Film, failed, same, true


def run():
    film, path, first, second = Film(), FOLDER / "film", Client(), Client()
    film.begin(first, path)
    failed(second.call(film.url, kind="download", path=str(path)), "in progress")
    film.kill(first, path)
    film.finish(second, path)
    true("the last range begins", "after the start", film.starts[-1] > 0, film.starts)
    same("partial files", [each.name for each in FOLDER.glob("film.part*") if not each.name.endswith(".tmp")], [])
