#!/usr/bin/env python3
"""Runs presidio-analyzer and `gristmill bench privacy` over the same labeled texts, one after the other.

    python3 ci/privacy-data/fetch.py
    python3 ci/privacy-data/compare.py [--half held-out] [--score 0.5] [-- OPTIONS of gristmill bench privacy]

Presidio is installed once, into the folder that fetch.py fills. The binary is found as by real_servers.py.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from labels import CLONE, data_folder

sys.path.append(str(CLONE / "ci"))
import real_servers  # noqa: E402

PRESIDIO = "presidio-analyzer==2.2.366"
MODEL = "en-core-web-sm"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", metavar="DIR", help="as given to fetch.py")
    parser.add_argument("--half", choices=["open", "held-out"], default="open")
    parser.add_argument("--score", default="0", help="Presidio's lowest score [default: 0, as its own]")
    parser.add_argument("options", nargs="*", help="passed on to gristmill bench privacy")
    arguments = parser.parse_args()
    folder = data_folder(arguments.into)
    texts = folder / arguments.half
    if not any(texts.glob("*.jsonl")):
        raise SystemExit(f"{texts} has no texts; run ci/privacy-data/fetch.py first")
    findings = folder / f"presidio-{arguments.half}.json"
    script = Path(__file__).with_name("presidio_findings.py")
    subprocess.run([install(folder), script, texts, findings, arguments.score], check=True)
    bench = [real_servers.binary(), "bench", "privacy", "--data", texts, "--beside", findings]
    raise SystemExit(subprocess.run([*bench, *arguments.options]).returncode)


def install(folder: Path) -> Path:
    """The Python of an environment with Presidio, made on first use."""
    environment = folder / "venv"
    python = environment / "bin" / "python"
    if (environment / "whole").exists():
        return python
    print("Installing presidio-analyzer, once …", flush=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    subprocess.run([*pip, PRESIDIO], check=True)
    if subprocess.run([*pip, MODEL], stderr=subprocess.DEVNULL).returncode != 0:
        print(f"pip has no {MODEL}: Presidio runs without a model and finds no names of people.")
    (environment / "whole").touch()
    return python


if __name__ == "__main__":
    main()
