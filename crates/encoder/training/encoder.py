"""all-MiniLM-L6-v2 in JAX, with an adapter: what training adds to the matrices of its layers.

An adapter has two matrices for each one of the model, whose product is added to it. Everything here is written for
training and for reference vectors; what users get is `src/`.
"""

import json
import struct
import unicodedata
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

LAYERS, WIDTH, HEADS, INNER = 6, 384, 12, 1536

# In the order of the adapter's file, each with how many rows and columns it has.
MATRICES = {
    "attention.self.query": (WIDTH, WIDTH),
    "attention.self.key": (WIDTH, WIDTH),
    "attention.self.value": (WIDTH, WIDTH),
    "attention.output.dense": (WIDTH, WIDTH),
    "intermediate.dense": (INNER, WIDTH),
    "output.dense": (WIDTH, INNER),
}

UNKNOWN, BEGIN, END = 100, 101, 102
TOKENS_MAX = 128
PIECES = 3


def read_weights(path):
    """All tensors of a `safetensors` file, by name."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    numbers = data[8 + length :]
    weights = {}
    for name, tensor in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            start, end = tensor["data_offsets"]
            weights[name] = jnp.asarray(np.frombuffer(numbers[start:end], "<f4").reshape(tensor["shape"]))
    return weights


class Tokenizer:
    """Text to tokens, as `src/word_piece` does it."""

    def __init__(self, vocabulary):
        words = Path(vocabulary).read_text(encoding="utf-8").split("\n")
        self.ids = {word: number for number, word in enumerate(words) if word}

    def __call__(self, text, tokens_max=TOKENS_MAX):
        tokens = [BEGIN]
        for word in self._words(text):
            tokens += self._pieces(word)
            if len(tokens) >= tokens_max:
                break
        return tokens[: tokens_max - 1] + [END]

    @staticmethod
    def _words(text):
        word = ""
        for character in unicodedata.normalize("NFD", text):
            category = unicodedata.category(character)
            if category in ("Mn", "Cc", "Cf", "Co") and character not in "\t\n\r":
                continue
            character = character.lower()
            is_alone = category.startswith("P") or (ord(character[0]) < 128 and not character.isalnum())
            if not character.isspace() and not is_alone:
                word += character
                continue
            if word:
                yield word
            word = ""
            if not character.isspace():
                yield character
        if word:
            yield word

    def _pieces(self, word):
        if len(word) > 100:
            return [UNKNOWN]
        pieces, at = [], 0
        while at < len(word):
            ends = range(len(word), at, -1)
            found = next((end for end in ends if ("##" if at else "") + word[at:end] in self.ids), None)
            if found is None:
                return [UNKNOWN]
            pieces.append(self.ids[("##" if at else "") + word[at:found]])
            at = found
        return pieces


def new_adapter(rank, seed):
    """One that adds nothing yet."""
    random = np.random.default_rng(seed)
    adapter = {}
    for name, (rows, columns) in named_matrices():
        adapter[f"{name}.rows"] = jnp.asarray(random.normal(size=(columns, rank)) / np.sqrt(columns), jnp.float32)
        adapter[f"{name}.columns"] = jnp.zeros((rank, rows), jnp.float32)
    return adapter


def named_matrices():
    for layer in range(LAYERS):
        for name, shape in MATRICES.items():
            yield f"encoder.layer.{layer}.{name}", shape


def forward(weights, adapter, tokens, mask):
    """Of each token what comes out of the last layer: texts x tokens x numbers."""
    texts, length = tokens.shape
    bias = jnp.where(mask[:, None, None, :] > 0, 0.0, -1e9)

    def linear(name, values):
        result = values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
        if adapter is not None:
            result += (values @ adapter[f"{name}.rows"]) @ adapter[f"{name}.columns"]
        return result

    def norm(name, values):
        mean = values.mean(-1, keepdims=True)
        variance = ((values - mean) ** 2).mean(-1, keepdims=True)
        return (values - mean) / jnp.sqrt(variance + 1e-12) * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    values = (
        weights["embeddings.word_embeddings.weight"][tokens]
        + weights["embeddings.position_embeddings.weight"][:length]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    values = norm("embeddings.LayerNorm", values)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"

        def heads(name):
            parts = linear(f"{layer}.attention.self.{name}", values)
            return parts.reshape(texts, length, HEADS, -1).transpose(0, 2, 1, 3)

        queries, keys, seen = heads("query"), heads("key"), heads("value")
        nearness = queries @ keys.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS)
        seen = jax.nn.softmax(nearness + bias, -1) @ seen
        seen = linear(f"{layer}.attention.output.dense", seen.transpose(0, 2, 1, 3).reshape(texts, length, WIDTH))
        values = norm(f"{layer}.attention.output.LayerNorm", values + seen)
        inner = jax.nn.gelu(linear(f"{layer}.intermediate.dense", values), approximate=False)
        values = norm(f"{layer}.output.LayerNorm", values + linear(f"{layer}.output.dense", inner))
    return values


def directions(vectors):
    return vectors / jnp.maximum(jnp.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def whole(values, mask):
    """The direction of the mean of a text's tokens, with the marks at both ends."""
    return directions((values * mask[..., None]).sum(1) / mask[..., None].sum(1))


def pieces(values, in_piece):
    """The directions of a definition's pieces, as `src/definition.rs` has them; `in_piece` (texts x pieces x tokens)
    is 1 where a token is in a piece."""
    return directions(in_piece @ directions(values))


def nearness_by_pieces(values, is_word, of_definitions):
    """For each query and each definition, how near the query's words are to their nearest pieces, in the mean."""
    nearest = jnp.einsum("qtd,npd->qntp", directions(values), of_definitions).max(-1)
    return (nearest * is_word[:, None, :]).sum(-1) / jnp.maximum(is_word.sum(-1), 1)[:, None]
