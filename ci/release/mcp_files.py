"""For MCP clients: a bundle that they install by a click, and a description for registries of servers."""

import hashlib
import json

import archives
import product as names
from archives import File

MANIFEST_VERSION = "0.3"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
SUMMARY_CHARS_MAX = 100
# What the default profile shows; everything else is a function in programs.
TOOLS = (
    ("execute_code", "Run a program in Python or TypeScript that calls your MCP servers"),
    ("search_tools", "Find tools of your MCP servers"),
)


def bundle_name(product, target):
    return f"gristmill-{product.version}-{target.platform.label}.mcpb"


def build_bundle(product, contents):
    files = [
        File("manifest.json", _json(manifest(product))),
        contents.executable("server/gristmill"),
        *contents.licenses_in("licenses"),
    ]
    return archives.zipped(files, product.epoch, ["manifest.json"])


def manifest(product):
    return {
        "manifest_version": MANIFEST_VERSION,
        "name": names.NAME,
        "display_name": "Gristmill",
        "version": product.version,
        "description": names.SUMMARY,
        "author": {"name": names.MAINTAINER, "url": product.repository},
        "repository": {"type": "git", "url": f"{product.repository}.git"},
        "license": names.LICENSE,
        "keywords": list(names.KEYWORDS),
        "server": {
            "type": "binary",
            "entry_point": "server/gristmill",
            "mcp_config": {"command": "${__dirname}/server/gristmill", "args": ["serve"], "env": {}},
        },
        "tools": [{"name": tool, "description": text} for tool, text in TOOLS],
        "tools_generated": True,
        "compatibility": {"platforms": ["linux"]},
    }


def server_json(product, target, bundle):
    """What a registry is told. The bundle's address is where a release of the repository would have it."""
    assert len(names.SUMMARY) <= SUMMARY_CHARS_MAX
    serve = [{"type": "positional", "value": "serve"}]
    transport = {"type": "stdio"}
    download = f"{product.repository}/releases/download/v{product.version}/{bundle_name(product, target)}"
    return _json(
        {
            "$schema": SCHEMA,
            "name": names.MCP_NAME,
            "title": "Gristmill",
            "description": names.SUMMARY,
            "version": product.version,
            "repository": {"url": product.repository, "source": "github"},
            "packages": [
                {
                    "registryType": "mcpb",
                    "identifier": download,
                    "version": product.version,
                    "fileSha256": hashlib.sha256(bundle).hexdigest(),
                    "transport": transport,
                },
                {
                    "registryType": "npm",
                    "identifier": names.NAME,
                    "version": product.version,
                    "runtimeHint": "npx",
                    "transport": transport,
                    "packageArguments": serve,
                },
                {
                    "registryType": "pypi",
                    "identifier": names.NAME,
                    "version": product.version,
                    "runtimeHint": "uvx",
                    "transport": transport,
                    "packageArguments": serve,
                },
            ],
        }
    )


def _json(value):
    return (json.dumps(value, indent=2) + "\n").encode()
