"""Teaches the encoder to tell tools apart by queries: learns an adapter from `pairs/` and writes it as the build reads
it (`build/adapter.rs`). README.md says what it's for, and how it's run."""

import argparse
import json
import random
import struct
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

import encoder
import tool_text

HERE = Path(__file__).parent
MAGIC = b"GMADA\0\0\x01"

# Queries that are compared with each other's tools at once, and the tools: those that are meant, and others of their
# servers as far as there is room.
BATCH = 48
TOKENS_MAX = {"query": 24, "definition": 64}

# A cosine is divided by this before it's compared with others.
TEMPERATURE = 0.05
# What the nearness by pieces counts beside that of the whole.
PIECES_WEIGHT = 0.5
LEARNING_RATE = 1e-3


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--model", type=Path, required=True, help="folder with model.safetensors and vocab.txt")
    arguments.add_argument("--pairs", type=Path, default=HERE / "pairs", help="folder of JSON Lines")
    arguments.add_argument("--out", type=Path, default=HERE.parent / "weights" / "adapter.bin")
    arguments.add_argument("--rank", type=int, default=8, help="products that are added to each matrix")
    arguments.add_argument("--epochs", type=int, default=2)
    arguments.add_argument("--seed", type=int, default=1)
    arguments = arguments.parse_args()
    weights = encoder.read_weights(arguments.model / "model.safetensors")
    tools = read_tools(arguments.pairs, encoder.Tokenizer(arguments.model / "vocab.txt"))
    print(f"{len(tools)} tools, {sum(len(tool['query_tokens']) for tool in tools)} queries", flush=True)
    adapter = learned(weights, tools, arguments)
    packed = pack({name: np.asarray(matrix) for name, matrix in adapter.items()}, arguments.rank)
    arguments.out.write_bytes(packed)
    print(f"{arguments.out}: {len(packed)} bytes")


def read_tools(folder, tokenizer):
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    tools = [json.loads(line) for line in lines]
    for tool in tools:
        parts = tool_text.definition_parts(tool["server"], tool["tool"], tool["description"], tool["args"])
        tool["tokens"] = tokenizer("".join(parts))
        tool["beginning"] = len(tokenizer(parts[0])) - 1
        tool["query_tokens"] = [tokenizer(query) for query in tool["queries"]]
    return tools


def learned(weights, tools, arguments):
    draw = random.Random(arguments.seed)
    adapter = encoder.new_adapter(arguments.rank, arguments.seed)
    steps = sum(len(tool["query_tokens"]) for tool in tools) // BATCH * arguments.epochs
    rate = optax.warmup_cosine_decay_schedule(0, LEARNING_RATE, max(steps // 10, 1), steps)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=0.01))
    state = optimizer.init(adapter)

    @jax.jit
    def step(adapter, state, batch):
        loss, gradient = jax.value_and_grad(loss_of)(adapter, weights, batch)
        updates, state = optimizer.update(gradient, state, adapter)
        return optax.apply_updates(adapter, updates), state, loss

    done, losses, began = 0, [], time.monotonic()
    for _ in range(arguments.epochs):
        for chosen in batches(tools, draw):
            adapter, state, loss = step(adapter, state, arranged(chosen, tools, draw))
            losses.append(float(loss))
            done += 1
            if done % 20 == 0:
                seconds = time.monotonic() - began
                print(f"step {done} of {steps}, loss {np.mean(losses[-20:]):.3f}, {seconds:.0f} s", flush=True)
    return adapter


def batches(tools, draw):
    """All queries in random order, those of a server in three runs: a tool's neighbors are in its batch."""
    by_server = {}
    for number, tool in enumerate(tools):
        by_server.setdefault(tool["server"], []).extend((number, tokens) for tokens in tool["query_tokens"])
    rounds = [[], [], []]
    for server in sorted(by_server):
        queries = by_server[server]
        draw.shuffle(queries)
        for start, runs in enumerate(rounds):
            runs.append(queries[start::3])
    for runs in rounds:
        draw.shuffle(runs)
    in_order = [query for runs in rounds for run in runs for query in run]
    for start in range(0, len(in_order) - BATCH + 1, BATCH):
        yield in_order[start : start + BATCH]


def arranged(chosen, tools, draw):
    """Queries and definitions side by side as arrays, with which definition each query means."""
    there = list(dict.fromkeys(number for number, _ in chosen))
    servers = {tools[number]["server"] for number in there}
    near = [number for number, tool in enumerate(tools) if tool["server"] in servers and number not in there]
    draw.shuffle(near)
    there = (there + near)[:BATCH]
    while len(there) < BATCH:
        number = draw.randrange(len(tools))
        if number not in there:
            there.append(number)
    long = max(len(tokens) for _, tokens in chosen)
    queries, query_mask = padded([tokens for _, tokens in chosen], 16 if long <= 16 else TOKENS_MAX["query"])
    definitions, mask = padded([tools[number]["tokens"] for number in there], TOKENS_MAX["definition"])
    positions = np.arange(queries.shape[1])
    return {
        "queries": queries,
        "query_mask": query_mask,
        "is_word": ((positions >= 1) & (positions < query_mask.sum(-1, keepdims=True) - 1)).astype(np.float32),
        "definitions": definitions,
        "mask": mask,
        "in_piece": np.stack([pieces_of(tools[number]) for number in there]),
        "meant": np.array([there.index(number) for number, _ in chosen], np.int32),
        # Neighbors that do just as well are no wrong answer.
        "counts": np.array([[other == number or not is_as_good(tools, number, other) for other in there] for number, _ in chosen]),
    }


def is_as_good(tools, number, other):
    one, other = tools[number], tools[other]
    return one["server"] == other["server"] and other["tool"] in one["also"]


def padded(texts, length):
    tokens, mask = np.zeros((len(texts), length), np.int32), np.zeros((len(texts), length), np.float32)
    for row, text in enumerate(texts):
        text = text[:length]
        tokens[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return tokens, mask


def pieces_of(tool):
    in_piece = np.zeros((encoder.PIECES, TOKENS_MAX["definition"]), np.float32)
    length = min(tool["beginning"], len(tool["tokens"]) - 1, TOKENS_MAX["definition"]) - 1
    for piece in range(encoder.PIECES):
        start, end = piece * length // encoder.PIECES, (piece + 1) * length // encoder.PIECES
        in_piece[piece, 1 + start : 1 + end] = 1
    return in_piece


def loss_of(adapter, weights, batch):
    queries = encoder.forward(weights, adapter, batch["queries"], batch["query_mask"])
    definitions = encoder.forward(weights, adapter, batch["definitions"], batch["mask"])
    of_whole = encoder.whole(queries, batch["query_mask"]) @ encoder.whole(definitions, batch["mask"]).T
    pieces = encoder.pieces(definitions, batch["in_piece"])
    of_pieces = encoder.nearness_by_pieces(queries, batch["is_word"], pieces)

    def surprise(nearness):
        chances = jax.nn.log_softmax(jnp.where(batch["counts"], nearness / TEMPERATURE, -1e9), 1)
        return -jnp.take_along_axis(chances, batch["meant"][:, None], 1).mean()

    return surprise(of_whole) + PIECES_WEIGHT * surprise(of_pieces)


def pack(adapter, rank):
    """In 8 bits, as `build/adapter.rs` reads it. Each product has a row and a column of the same length, which loses
    the least."""
    packed = bytearray(MAGIC + bytes([rank]))
    for name, _ in encoder.named_matrices():
        left, lengths, right = np.linalg.svd(adapter[f"{name}.rows"] @ adapter[f"{name}.columns"], full_matrices=False)
        lengths = np.sqrt(lengths[:rank])
        for vectors in ((left[:, :rank] * lengths).T, right[:rank] * lengths[:, None]):
            for vector in vectors:
                scale = np.float32(max(np.abs(vector).max(), 1e-12) / 127)
                packed += struct.pack("<f", scale) + np.clip(np.round(vector / scale), -127, 127).astype(np.int8).tobytes()
    return bytes(packed)


def unpack(packed):
    """The adapter that the build adds."""
    if not packed.startswith(MAGIC):
        raise ValueError("that isn't an adapter")
    rank, at, adapter = packed[len(MAGIC)], len(MAGIC) + 1, {}
    for name, (rows, columns) in encoder.named_matrices():
        for side, length in (("rows", columns), ("columns", rows)):
            vectors = []
            for _ in range(rank):
                (scale,) = struct.unpack_from("<f", packed, at)
                vectors.append(np.frombuffer(packed, np.int8, length, at + 4) * np.float32(scale))
                at += 4 + length
            matrix = np.stack(vectors)
            adapter[f"{name}.{side}"] = jnp.asarray(matrix.T if side == "rows" else matrix, jnp.float32)
    return adapter


if __name__ == "__main__":
    main()
