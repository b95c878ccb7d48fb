"""Pages in headless Chromium, where it is installed: no console message, and nothing beyond the window."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from polymat.codegen.report import Report
from tests.page.pages import measured, power_method, products, stencils

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--dump-dom", "--window-size=1800,1000"),
)
# Frames of both widths, since a window has a least width; for each, with everything open, how far right
# anything reaches that is shown, and how far drawings reach beyond their own frames.
PROBE = """<title></title><body>{frames}<script>
onload = () => {{
  document.title = [...document.querySelectorAll('iframe')].map(frame => {{
    const page = frame.contentDocument, right = each => each.getBoundingClientRect().right;
    page.querySelectorAll('details').forEach(each => {{ each.open = true; }});
    const reach = Math.max(...[...page.querySelectorAll('.polymat-page *')].map(right));
    const drawn = [...page.querySelectorAll('svg')].filter(svg => right(svg) > 0).map(
      svg => Math.max(...[...svg.querySelectorAll('*')].map(each => right(each) - right(svg))));
    return `${{frame.contentWindow.innerWidth}} ${{reach}} ${{page.documentElement.scrollWidth}} ` +
      `${{Math.max(...drawn)}}`;
  }}).join(';');
}};
</script></body>"""


def probed(report: Report, where: Path) -> list[list[float]]:
    """For 400 and 1600 pixels: the width, the furthest point, what can be scrolled, and of drawings."""
    text = html.escape(report.save(where / "page.html").read_text("utf-8"), quote=True)
    frames = "".join(
        f'<iframe width="{width}" height="900" srcdoc="{text}"></iframe>' for width in (400, 1600)
    )
    (where / "probe.html").write_text(PROBE.format(frames=frames), encoding="utf-8")
    command = [str(CHROMIUM), *QUIET, f"--user-data-dir={where / 'user'}", (where / "probe.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr
    (title,) = re.findall(r"<head><title>(.*?)</title>", done.stdout)
    return [[float(figure) for figure in each.split()] for each in title.split(";")]


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("name", ["stencils", "products", "power method"])
def test_nothing_is_clipped_and_the_console_is_empty(name: str, tmp_path: Path) -> None:
    sizes = {"N": 500, "R": 900, "C": 900}
    if name == "power method":
        report = power_method()
    else:
        report = measured({"stencils": stencils, "products": products}[name](), sizes)
    found = probed(report, tmp_path)
    assert [round(width) for width, *_ in found] == [400, 1600]
    for width, right, scrolled, drawings in found:
        assert right <= width + 0.5
        assert scrolled <= width
        assert drawings <= 1.0
