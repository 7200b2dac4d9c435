"""A result that is too large for the outcome: its JSON leaves in parts, and the gateway stores it under a handle."""

from gristmill_guest import loop, result, tools

LIMIT = "large_result_bytes"
# At most four times as many bytes, which fit one call.
PART_CHARS_MAX = 2 << 20


def hand_over(texts):
    """Sends the JSON, given as pieces of text. Raises ResultLimit if the gateway cannot store it."""
    calls = loop.current().calls
    for part in parts_of(texts):
        ok, answer = calls.ask("result", part)
        if not ok:
            raise result.ResultLimit(LIMIT, None, tools.error_from(answer, "result").message)


def parts_of(texts):
    """The same text in larger pieces, each within the bound."""
    waiting, chars = [], 0
    for text in texts:
        for start in range(0, len(text), PART_CHARS_MAX):
            piece = text[start : start + PART_CHARS_MAX]
            if chars + len(piece) > PART_CHARS_MAX:
                yield "".join(waiting)
                waiting, chars = [], 0
            waiting.append(piece)
            chars += len(piece)
    if waiting:
        yield "".join(waiting)
