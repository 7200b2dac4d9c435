"""A wheel for pip: the binary as a script of the environment, nothing to import."""

import base64
import hashlib

import archives
import product as names
from archives import File


def tag(target):
    return f"py3-none-{target.manylinux}"


def name(product, target):
    return f"gristmill-{product.version}-{tag(target)}.whl"


def build(product, target, contents):
    about = f"gristmill-{product.version}.dist-info"
    licenses = contents.licenses_in(f"{about}/licenses")
    files = [
        contents.executable(f"gristmill-{product.version}.data/scripts/gristmill"),
        File(
            f"{about}/METADATA", metadata(product, [file.path.removeprefix(f"{about}/licenses/") for file in licenses])
        ),
        File(f"{about}/WHEEL", wheel(target)),
        File(f"{about}/sboms/gristmill.cdx.json", contents.documents["gristmill.cdx.json"]),
        *licenses,
    ]
    files.append(File(f"{about}/RECORD", record(files, f"{about}/RECORD")))
    # The record comes last, as installers expect it.
    ordered = [file.path for file in sorted(files) if not file.path.endswith("/RECORD")]
    return archives.zipped(files, product.epoch, ordered)


def metadata(product, licenses):
    lines = [
        "Metadata-Version: 2.4",
        "Name: gristmill",
        f"Version: {product.version}",
        f"Summary: {names.SUMMARY}",
        f"Keywords: {','.join(names.KEYWORDS)}",
        f"Author: {names.MAINTAINER}",
        f"License-Expression: {names.LICENSE}",
        *(f"License-File: {license}" for license in licenses),
        "Classifier: Environment :: Console",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: Rust",
        f"Project-URL: Source, {product.repository}",
        "Description-Content-Type: text/markdown",
        "",
        "# Gristmill",
        "",
        f"{names.SUMMARY}. This package has one command, `gristmill`; start with `gristmill demo`.",
        "",
        f"<!-- mcp-name: {names.MCP_NAME} -->",
        "",
    ]
    return "\n".join(lines).encode()


def wheel(target):
    lines = ["Wheel-Version: 1.0", "Generator: gristmill-release", "Root-Is-Purelib: false", f"Tag: {tag(target)}", ""]
    return "\n".join(lines).encode()


def record(files, own_path):
    """Every file with its hash and size; the record itself without."""
    lines = [f"{file.path},sha256={digest(file.data)},{len(file.data)}" for file in sorted(files)]
    return "\n".join([*lines, f"{own_path},,", ""]).encode()


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
