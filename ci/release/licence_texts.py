"""The licenses of everything inside the binary, as one text: each text once, with all that are under it."""

import os
import re
import sysconfig
from pathlib import Path

import product

FILE = re.compile(r"(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)
FILE_BYTES_MAX = 300_000
RULE = "=" * 100
BUNDLED = "inside the Python engine"
# Of the module that the build takes out of its package.
MIT_NOTICES = {
    "quickjs-wasi (TypeScript engine)": ("2026 Vercel, Inc.",),
    "QuickJS-NG (TypeScript engine); its Unicode tables are under Unicode-3.0": (
        "2017-2026 Fabrice Bellard",
        "2017-2024 Charlie Gordon",
        "2023-2026 Ben Noordhuis",
        "2023-2026 Saúl Ibarra Corretgé",
    ),
}


def build(crates, parts, root=product.ROOT):
    """Crates that bring no text get that of their repository's other crates, or the standard one."""
    foreign = [crate for crate in crates if not crate.is_ours and crate.is_inside]
    own = {crate.id: texts_in(Path(crate.folder)) for crate in foreign}
    by_repository, by_license = {}, {}
    for crate in foreign:
        if own[crate.id]:
            by_repository.setdefault((crate.repository, crate.license), own[crate.id])
            by_license.setdefault(crate.license, own[crate.id])
    users = {}
    for crate in foreign:
        found = own[crate.id] or by_repository.get((crate.repository or None, crate.license))
        found = found or standard_texts(crate, root, by_license)
        for text in found:
            users.setdefault(text, []).append(f"{crate.name} {crate.version} ({crate.license})")
    for name, text in engine_texts(parts, root):
        users.setdefault(text, []).append(name)
    head = [
        "Gristmill is under the MIT license or the Apache License 2.0, at your choice. Inside the binary are parts",
        "of others, under the licenses below.",
        "",
        "The engines and the encoder:",
        *(f"  {part.name} {part.version}: {part.license}; {part.what}" for part in parts),
        "",
    ]
    blocks = [
        "\n".join([RULE, *(f"  {user}" for user in sorted(named)), RULE, "", text, ""])
        for text, named in sorted(users.items(), key=lambda item: sorted(item[1]))
    ]
    return ("\n".join(head) + "\n" + "\n".join(blocks)).encode()


def texts_in(folder):
    """The license files of a crate, without differences that mean nothing."""
    found = set()
    for name in sorted(os.listdir(folder)):
        path = folder / name
        if FILE.match(name) and path.is_file() and path.stat().st_size <= FILE_BYTES_MAX and path.suffix != ".rs":
            text = path.read_text(encoding="utf-8", errors="replace")
            found.add("\n".join(line.rstrip() for line in text.strip().splitlines()))
    return sorted(found)


def standard_texts(crate, root, by_license):
    """Of a crate without a file: the license's own words, with the names that its manifest has."""
    # Its words name nobody: they are the same wherever they are.
    if crate.license == "Apache-2.0 WITH LLVM-exception" and crate.license in by_license:
        return by_license[crate.license]
    words = crate.license.replace("(", " ").replace(")", " ").split()
    if "MIT" in words:
        return [mit_text([", ".join(crate.authors) or f"the authors of {crate.name}"], root)]
    if "Apache-2.0" in words and "WITH" not in words:
        return [(root / "LICENSE-APACHE").read_text(encoding="utf-8").strip()]
    raise product.CannotRelease(
        f"{crate.name} {crate.version} is under {crate.license} and brings no text of it; "
        "add its text to ci/release/licence_texts.py"
    )


def engine_texts(parts, root):
    """Of the engines: the notices of QuickJS, the bundled packages' files in the build's cache, Python's license."""
    for who, holders in MIT_NOTICES.items():
        yield who, mit_text(holders, root)
    cache = Path(os.environ.get("GRISTMILL_BUILD_CACHE") or _user_cache() / "gristmill" / "build")
    for part in parts:
        if part.what != BUNDLED:
            continue
        texts = bundled_texts(cache / "bundled", f"{part.name.replace('-', '_')}-{part.version}.dist-info")
        if not texts:
            raise product.CannotRelease(
                f"the license of {part.name} {part.version} isn't in {cache}/bundled; "
                "build here first, or set GRISTMILL_BUILD_CACHE"
            )
        yield from ((f"{part.name} {part.version} (Python engine)", text) for text in texts)
    python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    if not python.is_file():
        raise product.CannotRelease(f"there is no {python}, which has CPython's license")
    yield (
        "CPython (Python engine), as its license is in the Python that builds",
        python.read_text(encoding="utf-8").strip(),
    )


def bundled_texts(folder, wanted):
    """The license files of one installed package; tools spell its folder in large or small letters."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if path.name.lower() == wanted.lower()]
    places = [place for path in found for place in (path, path / "licenses") if place.is_dir()]
    return [text for place in places for text in texts_in(place)]


def mit_text(holders, root):
    license = (root / "LICENSE-MIT").read_text(encoding="utf-8")
    body = license[license.index("Permission is hereby granted") :].rstrip()
    return "\n".join(["MIT License", "", *(f"Copyright (c) {holder}" for holder in holders), "", body])


def _user_cache():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
