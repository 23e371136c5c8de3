"""Draws results of run.py as an SVG: a bar for each ratio, on a logarithmic axis around 1."""

import math
from html import escape

ROW_HEIGHT = 18
WORK_GAP = 10
LABEL_WIDTH = 330
PLOT_WIDTH = 560
FIGURE_WIDTH = 80
TOP = 48
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #1b1f24; }
  .work { font-weight: 600; } .peer, .tick { fill: #57606a; } .tick { font-size: 11px; }
  .faster { fill: #2da44e; } .slower { fill: #cf6a32; } .axis { stroke: #1b1f24; } .grid { stroke: #d0d7de; }
  .goal { stroke: #0550ae; stroke-width: 2; } .background { fill: #ffffff; }
"""


def draw(rows):
    rows = [row for row in rows if row["ratio"]]
    if not rows:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>\n'
    exponents = [math.log10(row["ratio"]) for row in rows] + [math.log10(row["goal"]) for row in rows if row["goal"]]
    low, high = math.floor(min(exponents + [-1])), math.ceil(max(exponents + [1]))

    def x_of(ratio):
        return LABEL_WIDTH + PLOT_WIDTH * (math.log10(ratio) - low) / (high - low)

    body, y, last_work = [], TOP, None
    for row in rows:
        if row["work"] != last_work:
            y += WORK_GAP
            body.append(f'<text class="work" x="8" y="{y + 13}">{escape(row["work"])}</text>')
            last_work = row["work"]
        left, right = sorted((x_of(1), x_of(row["ratio"])))
        kind = "faster" if row["ratio"] >= 1 else "slower"
        body.append(f'<text class="peer" x="{LABEL_WIDTH - 8}" y="{y + 13}" text-anchor="end">{escape(row["peer"])}</text>')
        body.append(
            f'<rect class="{kind}" x="{left:.1f}" y="{y + 3}" width="{max(right - left, 1):.1f}" '
            f'height="{ROW_HEIGHT - 6}"><title>{escape(describe(row))}</title></rect>'
        )
        if row["goal"]:
            goal = x_of(row["goal"])
            body.append(f'<line class="goal" x1="{goal:.1f}" x2="{goal:.1f}" y1="{y + 1}" y2="{y + ROW_HEIGHT - 1}"/>')
        body.append(f'<text x="{LABEL_WIDTH + PLOT_WIDTH + 8}" y="{y + 13}">{row["ratio"]:.2f}</text>')
        y += ROW_HEIGHT

    axis = []
    for exponent in range(low, high + 1):
        x = x_of(10.0**exponent)
        kind = "axis" if exponent == 0 else "grid"
        axis.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{y}"/>')
        axis.append(f'<text class="tick" x="{x:.1f}" y="{TOP - 6}" text-anchor="middle">{10.0**exponent:g}</text>')
    width, height = LABEL_WIDTH + PLOT_WIDTH + FIGURE_WIDTH, y + 12
    title = "Speed of pewter over that of each peer (right of 1: pewter is faster; blue: goal)"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
            f"<style>{STYLE}</style>",
            f'<rect class="background" width="{width}" height="{height}"/>',
            f'<text class="work" x="8" y="20">{title}</text>',
            *axis,
            *body,
            "</svg>\n",
        ]
    )


def describe(row):
    return (
        f"{row['work']}: {row['ours']:.4g} {row['unit']} against {row['theirs']:.4g} of {row['peer']}, "
        f"spread {100 * row['spread']:.0f} %"
    )
