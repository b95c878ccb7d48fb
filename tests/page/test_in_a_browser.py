"""Pages in headless Chromium, where it is installed: no console message, nothing beyond the window, readable.

In light and dark: `SCHEMES` are the browser's numbers of what a page is asked for.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from polymat.codegen.report import Report
from tests.page.pages import (
    filters,
    k3mm,
    looked_up,
    measured,
    power_method,
    products,
    stencil_in_time,
    stencils,
)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--dump-dom", "--window-size=1800,1000"),
)
SCHEMES = {"dark": 0, "light": 1}
LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3, of text and what is behind it
# Frames of both widths, since a window has a least width; for each, with everything open, how far right
# anything reaches that is shown, how far drawings reach beyond their own frames, the least contrast of a text
# and the first colour behind it, and how light the page is.
PROBE = """<title></title><body>{frames}<script>
const light = colour => {{
  const linear = colour.match(/[\\d.]+/g).slice(0, 3).map(each => each / 255).map(
    each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}};
const behind = each => {{
  for (let at = each; at; at = at.parentElement) {{
    const colour = getComputedStyle(at).backgroundColor;
    if (!/, 0\\)$/.test(colour)) return light(colour);
  }}
  return 1;
}};
const contrast = each => {{
  const style = getComputedStyle(each), one = light(each.closest('svg') ? style.fill : style.color);
  const other = behind(each);
  return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
}};
onload = () => {{
  document.title = [...document.querySelectorAll('iframe')].map(frame => {{
    const page = frame.contentDocument, right = each => each.getBoundingClientRect().right;
    page.querySelectorAll('details').forEach(each => {{ each.open = true; }});
    const reach = Math.max(...[...page.querySelectorAll('.polymat-page *')].map(right));
    const drawn = [...page.querySelectorAll('svg')].filter(svg => right(svg) > 0).map(
      svg => Math.max(...[...svg.querySelectorAll('*')].map(each => right(each) - right(svg))));
    const written = [...page.querySelectorAll('.polymat-page *')].filter(each => right(each) > 0 &&
      [...each.childNodes].some(part => part.nodeType === 3 && part.data.trim()));
    return `${{frame.contentWindow.innerWidth}} ${{reach}} ${{page.documentElement.scrollWidth}} ` +
      `${{Math.max(...drawn)}} ${{Math.min(...written.map(contrast))}} ` +
      `${{behind(page.querySelector('.polymat-page'))}}`;
  }}).join(';');
}};
</script></body>"""


def probed(page: str, scheme: str, where: Path) -> list[list[float]]:
    """For 400 and 1600 pixels: the width, the furthest point, what can be scrolled, of drawings, colours."""
    text = html.escape(page, quote=True)
    frames = "".join(
        f'<iframe width="{width}" height="900" srcdoc="{text}"></iframe>' for width in (400, 1600)
    )
    (where / "probe.html").write_text(PROBE.format(frames=frames), encoding="utf-8")
    asked = [f"--user-data-dir={where / 'user'}", f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}"]
    command = [str(CHROMIUM), *QUIET, *asked, (where / "probe.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr
    (title,) = re.findall(r"<head><title>(.*?)</title>", done.stdout)
    return [[float(figure) for figure in each.split()] for each in title.split(";")]


PAGES: dict[str, Callable[[], Report]] = {
    "stencils": lambda: measured(stencils(), {"R": 900, "C": 900}),
    "3mm": lambda: measured(k3mm(), {"NI": 800, "NJ": 900, "NK": 1000, "NL": 1100, "NM": 1200}),
    "products": lambda: measured(products(), {"N": 500}),
    "looked up": looked_up,
    "power method": power_method,
    "filters": filters,
    "stencil in time": lambda: measured(stencil_in_time(), {"T": 100, "N": 900, "M": 900}),
}


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.covering
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_clipped_and_all_can_be_read(name: str, scheme: str, tmp_path: Path) -> None:
    text = PAGES[name]().save(tmp_path / "page.html").read_text("utf-8")
    legible(probed(text, scheme, tmp_path), scheme)


FOREIGN = """<!doctype html><style>h2, h3 { color: #ff8080 } table { border: 40px solid } a { color: #888 }
section { float: right; width: 120% }</style><h2>A notebook</h2>"""


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_reports_stand_in_a_foreign_page(scheme: str, tmp_path: Path) -> None:
    """As in a notebook, whose own rules are for its own headings, tables and links."""
    both = [each()._repr_html_() for each in (power_method, stencil_in_time)]
    text = FOREIGN + "<p>between</p>".join(both)
    names = re.findall(r' id="(.*?)"', text)
    assert len(names) == len(set(names))
    legible(probed(text, scheme, tmp_path), scheme)


def legible(found: list[list[float]], scheme: str) -> None:
    """Assert that nothing is clipped and all can be read."""
    assert [round(width) for width, *_ in found] == [400, 1600]
    for width, right, scrolled, drawings, contrast, light in found:
        assert right <= width + 0.5
        assert scrolled <= width
        assert drawings <= 1.0
        assert contrast >= LEAST_CONTRAST
        assert (light < 0.1) == (scheme == "dark")
