"""Patterns over a long text of four letters: counting variants, then replacing."""

import re

VARIANTS = [
    "agggtaaa|tttaccct",
    "[cgt]gggtaaa|tttaccc[acg]",
    "a[act]ggtaaa|tttacc[agt]t",
    "ag[act]gtaaa|tttac[agt]ct",
    "agg[act]taaa|ttta[agt]cct",
    "aggg[acg]aaa|ttt[cgt]ccct",
]
LETTERS = "acgt"


def sequence(length):
    letters, seed = [], 42
    for _ in range(length):
        seed = (seed * 3877 + 29573) % 139_968
        letters.append(LETTERS[seed * 4 // 139_968])
    return "".join(letters)


def work():
    text = sequence(250_000)
    counts = [len(re.findall(variant, text)) for variant in VARIANTS]
    for pattern, replacement in [("tha[nt]", "<4>"), ("ag[gt]", "<3>"), (r"<[^>]*>", "|"), (r"\|[^|][^|]*\|", "-")]:
        text = re.sub(pattern, replacement, text)
    return [counts, len(text)]
