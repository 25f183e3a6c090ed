"""The measured values, and their forms: tables for people, lines of JSON for programs, and a picture of what grows."""

import json
from collections import defaultdict
from statistics import median

from . import children
from .works import SCALES, SIZES

PEERS = ("ours", "libcurl", "libcurl-cached", "wrk", "go", "floor", "bridge", "urlprotocol", "urlsession")
COUNTS = ("instructions", "syscalls", "allocations")
MEMORY = {"idle": "a connection", "queued": "a waiting call", "soak": "end over start", "burst": "end over start"}

# Colours that are told apart by people who do not see all of them (Okabe and Ito), also on a dark page.
COLOURS = dict(zip(SCALES, ("#0072b2", "#e69f00", "#d55e00", "#009e73", "#888888", "#cc79a7")))
PLOT = """
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


class Report:
    def __init__(self):
        self.measured = defaultdict(dict)  # (work name, peer, metric) -> round -> value
        self.works = {}

    def add(self, work, peer, metric, number, value):
        self.works[work.name] = work
        self.measured[work.name, peer, metric][number] = value

    def values(self):
        """The values, and for processor time also the ratio to libcurl (otherwise to URLSession) in the same round."""
        values = dict(self.measured)
        for (work, peer, metric), by_round in self.measured.items():
            reference = self.measured.get((work, "libcurl", "cpu-us")) or self.measured.get((work, "urlsession", "cpu-us"))
            if metric == "cpu-us" and peer != "libcurl" and reference:
                values[work, peer, "cpu-ratio"] = {n: by_round[n] / reference[n] for n in by_round if n in reference}
        return {key: sorted(by_round.values()) for key, by_round in values.items() if by_round}

    def json_lines(self):
        order = list(self.works)
        for (work, peer, metric), values in sorted(self.values().items(), key=lambda item: order.index(item[0][0])):
            figures = zip(("min", "median", "max"), map(rounded, (values[0], median(values), values[-1])))
            row = {"work": work, "peer": peer, "metric": metric, **dict(figures)}
            yield json.dumps(row | {"unit": self.works[work].unit, "rounds": len(values)})

    def text(self):
        values = self.values()

        def cells(name, peers, *metrics):
            """The row of a -task work does not repeat the peers' values."""
            repeats = name != self.works[name].base and self.works[name].base in self.works
            return [None if repeats and peer != "ours" else values.get((name, peer, metric)) for peer in peers for metric in metrics]

        def having(metric):
            return [peer for peer in PEERS if any((work, peer, metric) in values for work in self.works)]

        peers = [peer for peer in having("cpu-ratio") if peer != "libcurl"]
        ratios, alone = [["work", *peers, "libcurl, us", "per"]], [["work", "peer", "CPU us", "per"]]
        memory, counts = [["work", *having("rss-kib"), ""]], [["work", "peer", *COUNTS, "per"]]
        for name, work in self.works.items():
            found, own = cells(name, peers, "cpu-ratio"), cells(name, ["libcurl"], "cpu-us")
            if any(found + own):
                ratios.append([name, *map(spread, found + own), work.unit])
            if found := list(filter(None, cells(name, having("rss-kib"), "rss-kib"))):
                memory.append([name, *map(spread, cells(name, having("rss-kib"), "rss-kib")), MEMORY.get(work.kind, "peak over start")])
            for peer in PEERS:
                if any(found := cells(name, [peer], *COUNTS)):
                    counts.append([name, peer, *map(spread, found), work.unit])
                if (name, peer, "cpu-us") in values and (name, "libcurl", "cpu-us") not in values:
                    alone.append([name, peer, spread(values[name, peer, "cpu-us"]), work.unit])
        tables = [
            table("CPU time relative to libcurl (without it, to URLSession) in the same round: median (min to max)", ratios),
            table("CPU time without libcurl beside it: median (min to max)", alone),
            table("Time of single requests: median (min to max)", self.latencies()),
            table("Resident memory, KiB: median (min to max)", memory),
            table("Instructions in user space, system calls, allocations: median (min to max)", counts),
            self.scale_table(),
        ]
        return "\n\n".join(filter(None, tables))

    def latencies(self):
        """The time of single requests, and the ratio of the slowest hundredth to libcurl's in the same round."""
        rows = [["work", "peer", "median, us", "99 %, us", "99 %, to libcurl's"]]
        for (name, peer, metric), by_round in self.measured.items():
            if metric == "p99-us":
                other = self.measured.get((name, "libcurl", "p99-us"), {})
                ratios = sorted(by_round[n] / other[n] for n in by_round if n in other and peer != "libcurl")
                cells = (sorted(self.measured[name, peer, key].values()) for key in ("p50-us", "p99-us"))
                rows.append([name, peer, *map(spread, cells), spread(ratios)])
        return rows

    def scales(self):
        """Instructions by what grows and its size."""
        found = {}
        for (name, _, metric), by_round in self.measured.items():
            if name.startswith("scale-") and metric == "instructions":
                _, what, size = name.split("-")
                found.setdefault(what, {})[int(size)] = median(by_round.values())
        return found

    def scale_table(self):
        rows = [["instructions of a request, while there are", *(f"{size:,}" for size in SIZES)]]
        for what, by_size in self.scales().items():
            rows.append([SCALES[what], *(figure(by_size[size]) if size in by_size else "" for size in SIZES)])
        return table("The cost of a request while something grows", rows)

    def draw(self, output, folder):
        """Draws the works of scale as an SVG file, by gnuplot."""
        curves, script, drawn = [], folder / "plot", folder / "plot.svg"
        for what, by_size in self.scales().items():
            data = folder / f"{what}.points"
            data.write_text("".join(f"{size} {value}\n" for size, value in sorted(by_size.items())))
            curves.append(f'"{data}" with linespoints lw 2 pt 7 ps 0.6 lc rgb "{COLOURS[what]}" title "{what}"')
        script.write_text(PLOT.format(output=drawn, curves=", \\\n     ".join(curves)))
        children.run(["gnuplot", script])
        # Without the spaces that gnuplot leaves at the ends of lines.
        output.write_text("\n".join(line.rstrip() for line in drawn.read_text().splitlines()) + "\n")


def rounded(value):
    return float(f"{value:.5g}") if abs(value) < 10_000 else round(value)


def spread(values):
    if not values:
        return ""
    low, middle, high = map(figure, (values[0], median(values), values[-1]))
    return middle if low == high else f"{middle} ({low} to {high})"


def figure(value):
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.01 else f"{value:.2f}"


def table(title, rows):
    """A Markdown table with aligned columns, or an empty string without rows."""
    if len(rows) < 2:
        return ""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join([title, "", *lines])
