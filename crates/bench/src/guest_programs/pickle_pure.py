"""The library's pickle in Python: objects to bytes and back, by a long chain of small functions."""

import datetime
import io
import pickle

VALUE = {
    "ints": list(range(60)),
    "text": ["word" * n for n in range(12)],
    "pairs": [(n, n * 1.5, None, True) for n in range(20)],
    "nested": {"a": {"b": {"c": [1, 2, {"d": b"bytes"}]}}},
    "when": datetime.datetime(2026, 1, 2, 3, 4, 5),
}


def work():
    length = 0
    for _ in range(320):
        stream = io.BytesIO()
        pickle._Pickler(stream, 4).dump(VALUE)
        data = stream.getvalue()
        length += len(data)
        assert pickle._Unpickler(io.BytesIO(data)).load() == VALUE
    return length
