#!/usr/bin/env python3
"""Makes a site from docs/ with mdBook, and checks it.

    python3 ci/docs_site.py [--out DIR]     the site, in DIR/html
    python3 ci/docs_site.py --check         only whether every page can be reached, and every link leads somewhere

The contents of the site are those of docs/README.md, then the decisions. Links that leave docs/ lead to the
repository. mdBook is installed by cargo, once, into the user's cache; that takes minutes.
"""

import argparse
import os
import posixpath
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gristmill"
MDBOOK_VERSION = "0.5.4"
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
# mdBook would write a README.md as index.html, and leave the links to it behind.
DECISIONS = "decisions/index.md"


class Broken(Exception):
    """The pages don't make a site; one line for each reason."""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=CACHE / "site", help="where the site goes")
    parser.add_argument("--check", action="store_true", help="check the pages, and make nothing")
    arguments = parser.parse_args()
    try:
        files = staged(ROOT)
        if arguments.check:
            print(f"{sum(name.endswith('.md') for name in files)} pages, every one reached, every link good")
            return 0
        build(files, arguments.out)
    except Broken as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def staged(root):
    """Name → text or bytes of every file that mdBook reads."""
    docs = root / "docs"
    files = {}
    for path in sorted(path for path in docs.rglob("*") if path.is_file() and path.name != "book.toml"):
        name = path.relative_to(docs).as_posix()
        files[name] = path.read_text(encoding="utf-8") if name.endswith(".md") else path.read_bytes()
    files[DECISIONS] = decisions(files)
    chapters = contents(files["README.md"], files)
    complaints = [f"docs/{name} isn't in docs/README.md, so nobody finds it" for name in unreached(files, chapters)]
    repository = re.search(
        r'^repository = "([^"]+)"$', (root / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE
    )[1]
    for name in [name for name in files if name.endswith(".md")]:
        files[name] = with_links_led(files[name], root, repository, name)
        complaints += [f"docs/{name}: {problem}" for problem in broken_links(files, name)]
    if complaints:
        raise Broken("\n".join(complaints))
    files["SUMMARY.md"] = summary(chapters, files)
    return files


def with_links_led(text, root, repository, name):
    return outside_code(text, lambda part: LINK.sub(lambda link: led(root, repository, name, link[1]), part))


def contents(readme, files):
    """(heading, names of pages) in the order of the page that people begin with; a page is in it once."""
    chapters, seen = [], {"README.md"}
    for part in re.split(r"^## ", readme, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        names = []
        for target in LINK.findall(body):
            name = target.partition("#")[0]
            if name in files and name.endswith(".md") and name not in seen:
                seen.add(name)
                names.append(name)
        chapters.append((heading.strip(), names))
    return chapters


def unreached(files, chapters):
    known = {"README.md", DECISIONS, "SUMMARY.md", *(name for _, names in chapters for name in names)}
    return [name for name in files if name.endswith(".md") and name not in known and not name.startswith("decisions/")]


def decisions(files):
    names = [name for name in files if name.startswith("decisions/") and name.endswith(".md")]
    lines = [f"- [{title(files[name])}]({posixpath.basename(name)})" for name in names]
    return "\n".join(
        ["# Decisions", "", "Why Gristmill is built as it is: each choice that had an alternative.", "", *lines, ""]
    )


def summary(chapters, files):
    """What mdBook takes for its contents."""
    lines = ["# Summary", "", f"[{title(files['README.md'])}](README.md)", ""]
    for heading, names in chapters:
        if names:
            lines += [f"# {heading}", "", *(f"- [{title(files[name])}]({name})" for name in names), ""]
    lines += ["# Decisions", "", f"- [{title(files[DECISIONS])}]({DECISIONS})"]
    below = [name for name in files if name.startswith("decisions/") and name.endswith(".md") and name != DECISIONS]
    lines += [f"  - [{title(files[name])}]({name})" for name in below]
    return "\n".join([*lines, ""])


def title(text):
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    if found is None:
        raise Broken(f"a page has no title: {text[:40]!r}")
    # A link's words must not be links, or end early.
    return re.sub(r"[\[\]]", "", found[1].replace("`", "")).strip()


def led(root, repository, name, target):
    """Where a link of a page leads on the site."""
    if "://" in target or target.startswith(("#", "mailto:")):
        return target
    path, mark, heading = target.partition("#")
    place = posixpath.normpath(posixpath.join("docs", posixpath.dirname(name), path))
    if place == "docs/decisions":
        return posixpath.relpath(DECISIONS, posixpath.dirname(name) or ".")
    if place.startswith("docs/"):
        return target
    kind = "tree" if (root / place).is_dir() else "blob"
    return f"{repository}/{kind}/main/{place}{mark}{heading}"


def broken_links(files, name):
    links = []
    outside_code(files[name], lambda text: links.extend(LINK.findall(text)) or text)
    for target in links:
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, heading = target.partition("#")
        there = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        if there not in files and not any(known.startswith(f"{there}/") for known in files):
            yield f"{target} leads nowhere"
        elif heading and there.endswith(".md") and heading not in headings(files[there]):
            yield f"{target}: that page has no such heading"


def headings(text):
    """The names by which headings are linked."""
    found = set()

    def collect(part):
        for line in re.findall(r"^#+ (.+)$", part, re.MULTILINE):
            name = "".join(c for c in line.strip().lower() if c.isalnum() or c in " -_").replace(" ", "-")
            count = next(n for n in range(1000) if (f"{name}-{n}" if n else name) not in found)
            found.add(f"{name}-{count}" if count else name)
        return part

    outside_code(text, collect)
    return found


def outside_code(text, change):
    """A text with what isn't inside of fences changed."""
    parts = re.split(r"(^[ \t]*```.*?^[ \t]*```[^\n]*$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if index % 2 else change(part) for index, part in enumerate(parts))


def build(files, out):
    mdbook = installed()
    shutil.rmtree(out, ignore_errors=True)
    for name, data in files.items():
        path = out / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    shutil.copy(ROOT / "docs" / "book.toml", out)
    run([mdbook, "build", out])
    complaints = list(broken_pages(out / "html"))
    if complaints:
        raise Broken("\n".join(complaints))
    print(f"{out / 'html' / 'index.html'}: {len(list((out / 'html').rglob('*.html')))} pages, every link good")


def installed():
    """The mdBook that is pinned here."""
    folder = CACHE / f"mdbook-{MDBOOK_VERSION}"
    binary = folder / "bin" / "mdbook"
    if not binary.is_file():
        print(f"installing mdBook {MDBOOK_VERSION}, once; this takes minutes", flush=True)
        run(["cargo", "install", "mdbook", "--version", f"={MDBOOK_VERSION}", "--locked", "--root", folder])
    return binary


def run(command):
    done = subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL, cwd=CACHE if CACHE.is_dir() else None
    )
    if done.returncode != 0:
        raise Broken(f"{' '.join(map(str, command[:3]))} ended with code {done.returncode}")


class Page(HTMLParser):
    """The links of a page, and the names that links may lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names.add(given.get("id"))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])


def broken_pages(folder):
    """Links of the finished site that lead nowhere. The page to print has all others in it, and is left out."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        if path.name in ("print.html", "404.html", "toc.html"):
            continue
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            place, _, name = link.partition("#")
            there = (path.parent / place).resolve() if place else path.resolve()
            if there.is_dir():
                there = there / "index.html"
            if not there.is_file():
                yield f"{path.relative_to(folder)}: {link} leads nowhere"
            elif name and there in pages and name not in pages[there].names:
                yield f"{path.relative_to(folder)}: {link}: there is no such heading"


if __name__ == "__main__":
    sys.exit(main())
