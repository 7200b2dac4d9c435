"""Two packages for npm: one with the binary of a platform, and one that finds and starts it."""

import json

import archives
import product as names
from archives import File

LAUNCHER = names.ROOT / "packaging" / "npm" / "gristmill.js"
NODE_MIN = ">=18"


def platform_name(label):
    return f"@gristmill/{label}"


def platform_file(product, target):
    return f"gristmill-{target.platform.label}-{product.version}.tgz"


def launcher_file(product):
    return f"gristmill-{product.version}.tgz"


def build_platform(product, target, contents):
    about = {
        "name": platform_name(target.platform.label),
        "version": product.version,
        "description": f"The gristmill binary for {target.platform.label}",
        **_shared(product),
        "os": ["linux"],
        "cpu": [target.platform.npm_cpu],
        "libc": ["glibc"],
        "files": ["bin", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt", "encoder-weights"],
    }
    files = [File("package/package.json", _json(about)), contents.executable("package/bin/gristmill")]
    files += contents.licenses_in("package")
    return archives.tar_gz(files, product.epoch)


def build_launcher(product, contents, labels):
    """`labels` are the platforms that it may choose from; npm installs the one that fits."""
    about = {
        "name": names.NAME,
        "version": product.version,
        "description": names.SUMMARY,
        "keywords": list(names.KEYWORDS),
        **_shared(product),
        "mcpName": names.MCP_NAME,
        "bin": {"gristmill": "bin/gristmill.js"},
        "files": ["bin", "LICENSE-MIT", "LICENSE-APACHE", "README.md"],
        "optionalDependencies": {platform_name(label): product.version for label in sorted(labels)},
    }
    files = [
        File("package/package.json", _json(about)),
        File("package/bin/gristmill.js", LAUNCHER.read_bytes(), 0o755),
        *(File(f"package/{name}", contents.documents[name]) for name in ("LICENSE-MIT", "LICENSE-APACHE", "README.md")),
    ]
    return archives.tar_gz(files, product.epoch)


def _shared(product):
    return {
        "license": names.LICENSE,
        "author": names.MAINTAINER,
        "repository": {"type": "git", "url": f"git+{product.repository}.git"},
        "engines": {"node": NODE_MIN},
    }


def _json(value):
    return (json.dumps(value, indent=2) + "\n").encode()
