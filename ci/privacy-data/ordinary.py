"""What the detector finds in ordinary text, to be judged by a person: how often it cries wolf.

    python3 ci/privacy-data/ordinary.py --binary FILE [--list FILE] FOLDER...

Reads up to 20 MB of texts that nobody here wrote from the folders: documents, source, JSON, and settings, at most a
quarter of each kind. Good folders are the sources of the crates that this is built from, Python's own library, and a
folder of tool catalogues. Prints findings of at least 50% by kind and rule, and how many there are for each 100 KB;
`--list` writes every one with the text around it. Most are right (authors have addresses), so the figure is an upper
bound, and the list says what is under it.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

BYTES_MAX = 20_000_000
FILE_BYTES_MAX = 300_000
SURE_MIN = 50
SUFFIXES = {".md": "documents", ".txt": "documents", ".rs": "source", ".py": "source", ".ts": "source"}
SUFFIXES |= {".json": "JSON", ".toml": "settings", ".yaml": "settings", ".yml": "settings", ".cfg": "settings"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--binary", required=True, help="the gristmill to ask")
    parser.add_argument("--list", type=Path, help="where every finding is written, with the text around it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="+", type=Path)
    arguments = parser.parse_args()
    read, found = Counter(), Counter()
    listed = []
    with tempfile.TemporaryDirectory() as folder:
        for sort, text in gathered(arguments.folders, arguments.seed).items():
            place = Path(folder, "text")
            place.write_bytes(text)
            read[sort] = len(text)
            for kind, rule, around in findings(arguments.binary, place, text):
                found[sort, kind, rule] += 1
                listed.append(f"{sort}\t{kind}\t{rule}\t{around}")
    total = sum(read.values())
    if not total:
        sys.exit("error: no texts in these folders")
    print(f"{total / 1e6:.1f} MB: " + ", ".join(f"{sort} {size / 1e6:.1f}" for sort, size in read.items()))
    for (sort, kind, rule), count in found.most_common():
        print(f"{count:6}  {sort:10} {kind:16} {rule}")
    print(f"{sum(found.values())} findings, {sum(found.values()) / total * 1e5:.2f} for each 100 KB")
    if arguments.list:
        arguments.list.write_text("\n".join(listed) + "\n")


def gathered(folders, seed):
    """Texts by their sort, each a mix of files from everywhere."""
    files = sorted(file for folder in folders for file in folder.rglob("*") if file.suffix in SUFFIXES)
    random.Random(seed).shuffle(files)
    texts = {sort: bytearray() for sort in SUFFIXES.values()}
    for file in files:
        text = texts[SUFFIXES[file.suffix]]
        if len(text) < BYTES_MAX / len(texts) and file.is_file() and file.stat().st_size <= FILE_BYTES_MAX:
            content = file.read_bytes()
            try:
                content.decode()
            except UnicodeDecodeError:
                continue
            text += content + b"\n"
    return {sort: bytes(text) for sort, text in texts.items() if text}


def findings(binary, place, text):
    scan = [binary, "privacy", "scan", "--json", str(place)]
    # 1 says that there are findings.
    ran = subprocess.run(scan, capture_output=True, text=True, check=False)
    if not ran.stdout:
        sys.exit(ran.stderr)
    for one in json.loads(ran.stdout)["findings"]:
        if one["confidence"] >= SURE_MIN:
            start, end = one["span"]["start"], one["span"]["end"]
            around = text[max(0, start - 30) : end + 20].decode(errors="replace")
            yield one["kind"], one["rule"], json.dumps(around, ensure_ascii=False)


if __name__ == "__main__":
    main()
