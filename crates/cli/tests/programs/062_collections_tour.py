from collections import ChainMap, Counter, OrderedDict, defaultdict, deque

words = "the quick brown fox jumps over the lazy dog the end".split()
counts = Counter(words)
recent = deque(maxlen=3)
for word in words:
    recent.append(word)
lru = OrderedDict.fromkeys("abc")
lru.move_to_end("a")
lru.popitem(last=False)
index = defaultdict(list)
for word in words:
    index[len(word)].append(word)
settings = ChainMap({"debug": True}, {"debug": False, "level": 3})
result = {
    "top": counts.most_common(1),
    "difference": sorted((counts - Counter(["the", "fox"])).elements())[:4],
    "recent": list(recent),
    "lru": list(lru),
    "longest": index[max(index)],
    "settings": dict(settings),
}
