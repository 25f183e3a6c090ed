"""The cost of a request while something grows, as a table and as a picture that gnuplot draws."""

from statistics import median

from . import children
from .report import figure, table
from .works import SCALES, SIZES

# Colours that are told apart by people who do not see all of them (Okabe and Ito), also on a dark page.
COLOURS = {
    "origins": "#0072b2",
    "connections": "#e69f00",
    "waiters": "#d55e00",
    "cookies": "#009e73",
    "cache": "#888888",
    "map": "#cc79a7",
}

SCRIPT = """
set terminal svg size 720,400 font "sans-serif,13" background "#ffffff"
set output "{output}"
set title "Instructions of a request"
set xlabel "number of origins, connections, callers, cookies, responses, entries"
set logscale x
set format x "%.0f"
set decimal locale
set format y "%'.0f"
set xrange [0.8:12500]
set yrange [0:*]
set grid ytics lc rgb "#dddddd"
set key outside right center
set border 3
set tics nomirror
plot {curves}
"""


def values(report):
    """Instructions by what grows and its size."""
    found = {}
    for (name, _, metric), by_round in report.values.items():
        _, what, size = name.split("-") if name.startswith("scale-") else (None, None, None)
        if what and metric == "instructions":
            found.setdefault(what, {})[int(size)] = median(by_round.values())
    return found


def scale_table(report):
    found = values(report)
    rows = [["instructions of a request, while there are", *(f"{size:,}" for size in SIZES)]]
    for what, by_size in found.items():
        rows.append([SCALES[what], *(figure(by_size[size]) if size in by_size else "" for size in SIZES)])
    return table("The cost of a request while something grows", rows) if found else ""


def draw(report, output, folder):
    """Draws the values as an SVG file."""
    curves = []
    for what, by_size in values(report).items():
        data = folder / f"{what}.points"
        data.write_text("".join(f"{size} {value}\n" for size, value in sorted(by_size.items())))
        curves.append(f'"{data}" with linespoints lw 2 pt 7 ps 0.6 lc rgb "{COLOURS[what]}" title "{what}"')
    script = folder / "plot"
    drawn = folder / "plot.svg"
    script.write_text(SCRIPT.format(output=drawn, curves=", \\\n     ".join(curves)))
    children.run(["gnuplot", script])
    # Without the spaces that gnuplot leaves at the ends of lines.
    output.write_text("\n".join(line.rstrip() for line in drawn.read_text().splitlines()) + "\n")

