"""Writes `tests/reference.json` anew: the same texts and tokens, with the vectors that the published weights and the
adapter give in 32-bit floating point."""

import argparse
import json
from pathlib import Path

import numpy as np

import encoder
from train import unpack

HERE = Path(__file__).parent


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--model", type=Path, required=True, help="folder with model.safetensors")
    arguments = arguments.parse_args()
    weights = encoder.read_weights(arguments.model / "model.safetensors")
    adapter = unpack((HERE.parent / "weights" / "adapter.bin").read_bytes())
    file = HERE.parent / "tests" / "reference.json"
    cases = json.loads(file.read_text("utf-8"))
    for case in cases:
        tokens = np.array([case["tokens"]], np.int32)
        mask = np.ones(tokens.shape, np.float32)
        vector = encoder.whole(encoder.forward(weights, adapter, tokens, mask), mask)[0]
        case["vector"] = [int(number) for number in np.round(np.asarray(vector) * 10_000)]
    lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
    file.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()
