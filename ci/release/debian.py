"""A package for Debian and Ubuntu, written by hand: dpkg isn't needed to make it."""

import hashlib
import textwrap
import time

import archives
import product as names
from archives import File

REVISION = 1
# Who answers for the package; the address is one that can't be reached, as long as nothing is published.
MAINTAINER = f"{names.MAINTAINER} <maintainers@gristmill.invalid>"
PLACES = {
    "bash": "usr/share/bash-completion/completions/gristmill",
    "zsh": "usr/share/zsh/vendor-completions/_gristmill",
    "fish": "usr/share/fish/vendor_completions.d/gristmill.fish",
}
DOCUMENTS = "usr/share/doc/gristmill"


def name(product, target):
    return f"gristmill_{product.version}-{REVISION}_{target.platform.debian}.deb"


def build(product, target, contents):
    files = data_files(product, contents)
    control = [
        File("control", control_text(product, target, files)),
        File("md5sums", checksums(files)),
    ]
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", archives.tar_gz(control, product.epoch, "./")),
        ("data.tar.gz", archives.tar_gz(files, product.epoch, "./")),
    ]
    return archives.ar(members, product.epoch)


def data_files(product, contents):
    smallest = 9
    files = [contents.executable("usr/bin/gristmill")]
    files += [
        File(f"usr/share/man/man1/{page}.gz", archives.gzipped(text, smallest))
        for page, text in contents.manuals.items()
    ]
    files += [File(PLACES[shell], script) for shell, script in contents.completions.items()]
    documents = dict(contents.documents)
    files += [
        File(f"{DOCUMENTS}/copyright", copyright_text(product)),
        File(f"{DOCUMENTS}/changelog.gz", archives.gzipped(documents.pop("CHANGELOG.md"), smallest)),
        File(f"{DOCUMENTS}/changelog.Debian.gz", archives.gzipped(debian_changelog(product), smallest)),
        File(
            f"{DOCUMENTS}/THIRD-PARTY-LICENSES.txt.gz",
            archives.gzipped(documents.pop("THIRD-PARTY-LICENSES.txt"), smallest),
        ),
    ]
    # The system has the text of the Apache license; the copyright file names it.
    documents.pop("LICENSE-APACHE")
    documents.pop("LICENSE-MIT")
    files += [File(f"{DOCUMENTS}/{name}", data) for name, data in documents.items()]
    return files


def control_text(product, target, files):
    glibc = ".".join(map(str, target.glibc))
    kilobytes = sum(-(-len(file.data) // 1024) for file in files) + len(archives.folders(files))
    words = (
        "Agents write programs against MCP servers; Gristmill runs each one in WebAssembly, in a process of its own "
        "behind landlock and seccomp, checks every call that it makes, and answers within a budget of tokens."
    )
    lines = [
        "Package: gristmill",
        f"Version: {product.version}-{REVISION}",
        f"Architecture: {target.platform.debian}",
        f"Maintainer: {MAINTAINER}",
        f"Installed-Size: {kilobytes}",
        f"Depends: libc6 (>= {glibc}), libgcc-s1",
        "Section: utils",
        "Priority: optional",
        f"Homepage: {product.repository}",
        "Description: sandboxed gateway between AI agents and MCP servers",
        *(f" {line}" for line in textwrap.wrap(words, 76)),
        "",
    ]
    return "\n".join(lines).encode()


def checksums(files):
    lines = [f"{hashlib.md5(file.data, usedforsecurity=False).hexdigest()}  {file.path}" for file in sorted(files)]
    return "\n".join([*lines, ""]).encode()


def copyright_text(product):
    license = (names.ROOT / "LICENSE-MIT").read_text(encoding="utf-8")
    head, _, body = license.partition("Permission is hereby granted")
    holder = next(line for line in head.splitlines() if line.startswith("Copyright"))
    expat = [f" {line}" if line else " ." for line in f"Permission is hereby granted{body}".rstrip().splitlines()]
    lines = [
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/",
        "Upstream-Name: gristmill",
        f"Source: {product.repository}",
        "",
        "Files: *",
        f"Copyright: {holder.removeprefix('Copyright').strip()}",
        "License: Expat or Apache-2.0",
        "Comment: Crates, engines and weights inside the binary have licenses of their own: see",
        " THIRD-PARTY-LICENSES.txt.gz and encoder-weights in this folder.",
        "",
        "License: Expat",
        *expat,
        "",
        "License: Apache-2.0",
        " On Debian systems the full text of the Apache License 2.0 is in",
        " /usr/share/common-licenses/Apache-2.0.",
        "",
    ]
    return "\n".join(lines).encode()


def debian_changelog(product):
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(product.epoch))
    lines = [
        f"gristmill ({product.version}-{REVISION}) stable; urgency=medium",
        "",
        f"  * Version {product.version}. What changed is in changelog.gz.",
        "",
        f" -- {MAINTAINER}  {date}",
        "",
    ]
    return "\n".join(lines).encode()
