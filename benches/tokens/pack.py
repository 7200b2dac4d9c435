"""Writes benches/tokens/catalogues from a folder of dumps of `tools/list`.

    python3 benches/tokens/pack.py DUMPS

A dump is a JSON object of "server", "version" and "tools", one file for each server. Definitions
are kept as their servers gave them; only the spaces between them go.
"""

import json
import pathlib
import sys

# The name in a configuration, and the dump that it stands for.
SERVERS = {
    "airtable": "airtable-mcp-server",
    "analytics": "google-analytics-mcp",
    "atlassian": "mcp-atlassian",
    "aws": "aws-iam",
    "git": "mcp-server-git",
    "github": "github-mcp-server",
    "grafana": "mcp-grafana",
    "hubspot": "hubspot__mcp-server",
    "kubernetes": "mcp-server-kubernetes",
    "maps": "modelcontextprotocol__server-google-maps",
    "mongodb": "mongodb-mcp-server",
    "playwright": "playwright__mcp",
    "sentry": "sentry__mcp-server",
}


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    dumps = pathlib.Path(sys.argv[1])
    target = pathlib.Path(__file__).parent / "catalogues"
    target.mkdir(exist_ok=True)
    for name, dump in SERVERS.items():
        source = json.loads((dumps / f"{dump}.json").read_text(encoding="utf-8"))
        kept = {
            "server": source["server"],
            "version": source.get("version") or None,
            "tools": source["tools"],
        }
        text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
        (target / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"| `{name}` | {kept['server']} | {kept['version'] or 'unknown'} | {len(kept['tools'])} |")


if __name__ == "__main__":
    main()
