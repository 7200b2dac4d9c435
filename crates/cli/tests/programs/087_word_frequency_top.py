import re
from collections import Counter

TEXT = """It was the best of mills, it was the worst of mills; it was the age of stone,
it was the age of steel. The miller's daughter — who'd read everything — said so."""
STOP = {"it", "was", "the", "of", "so", "who'd"}
words = [w for w in re.findall(r"[a-z]+(?:'[a-z]+)?", TEXT.lower()) if w not in STOP]
counts = Counter(words)
result = {
    "top": sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))[:4],
    "unique": len(counts),
    "average_length": round(sum(map(len, words)) / len(words), 2),
    "sentences": len(re.findall(r"[.!?](?:\s|$)", TEXT)),
}
