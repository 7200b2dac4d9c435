"""Notes: short remarks that travel with an outcome. Bounded in number and length."""

NOTES_MAX = 20
NOTE_CHARS_MAX = 300


class Notes:
    def __init__(self):
        self._texts = []
        self._dropped = 0

    def add(self, text):
        """Keeps the note unless it is already there or there are too many."""
        text = " ".join(str(text).split())
        if len(text) > NOTE_CHARS_MAX:
            text = text[: NOTE_CHARS_MAX - 1] + "\u2026"
        if text in self._texts:
            return
        if len(self._texts) >= NOTES_MAX - 1:
            self._dropped += 1
            return
        self._texts.append(text)

    def texts(self):
        if self._dropped:
            return self._texts + [f"{self._dropped} more notes were left out"]
        return list(self._texts)
