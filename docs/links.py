"""Links within the site: `python docs/links.py DIRECTORY` names those that lead nowhere, and then fails."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """What a page leads to, and what in it can be led to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.to: list[str] = []
        self.places = {""}
        self.feed(page.read_text("utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        self.places |= {found[key] for key in ("id", "name") if key in found}
        self.to += [found[key] for key in ("href", "src") if key in found]


def broken_links(site: Path) -> list[str]:
    """Links within a site that lead nowhere."""
    pages = {page.resolve(): Links(page) for page in site.rglob("*.html")}
    broken = []
    for page, links in pages.items():
        for link in links.to:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            known = pages[there].places if there in pages else {parts.fragment} if there.exists() else set()
            if unquote(parts.fragment) not in known:
                broken.append(f"{page.relative_to(site.resolve())}: {link}")
    return broken


def main(site: str) -> int:
    """The exit status."""
    broken = broken_links(Path(site))
    sys.stderr.write("".join(f"leads nowhere: {each}\n" for each in broken))
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
