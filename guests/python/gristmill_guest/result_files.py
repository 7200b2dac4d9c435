"""Bytes in a result, as the gateway takes them out of it: `{"$file": {"media_type", "bytes", "base64"}}`.

The images that tools answered with are files of the workspace already; a result that names one carries
its bytes along, so that whoever asked can see it. Where there is no room for them, the name stays alone.
"""

import binascii
import io

from gristmill_guest import encoding, loop

MARK = "$file"
# Images of tools that go along with a result, and their bytes together.
FILES_MAX = 8
FILES_BYTES_MAX = 10 << 20
# The mark around the base64 text, with room to spare.
MARK_BYTES = 200

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
_TOLD = {"type": str, "path": str, "mime": str, "bytes": int}
# Of what stands for a tool's file; asked for each dict of a result.
MEMBERS = len(_TOLD)
_b2a_base64 = binascii.b2a_base64
_open = io.open


def marked(data):
    """JSON of what stands for bytes."""
    kind = encoding.quote(media_type(data))
    text = _b2a_base64(data, newline=False).decode("ascii")
    return f'{{"media_type": {kind}, "bytes": {len(data)}, "base64": "{text}"}}'


def media_type(data):
    """What bytes are, by how they begin."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    for beginning, kind in _BEGINNINGS:
        if data[: len(beginning)] == beginning:
            return kind
    return "application/octet-stream"


class ToolImages:
    """The images of tools that one result names."""

    def __init__(self):
        self._files_left = FILES_MAX
        self._bytes_left = FILES_BYTES_MAX

    def text_of(self, value, bytes_max):
        """JSON of a dict that stands for an image of a tool, with its bytes; None if it is none, or has no room."""
        if not self._files_left or len(value) != MEMBERS or not _is_image(value):
            return None
        room = min(self._bytes_left, (bytes_max - MARK_BYTES) // 4 * 3 - 2 * len(value["path"]))
        data = _read(value["path"], room) if room > 0 else None
        if data is None:
            return None
        told = encoding.plain_text(value)
        if told is None:
            return None
        self._files_left -= 1
        self._bytes_left -= len(data)
        return f'{told[:-1]}, "{MARK}": {marked(data)}}}'


def _is_image(value):
    for key, kind in _TOLD.items():
        if type(value.get(key)) is not kind:
            return False
    state = loop.current()
    return value["type"] == "image" and state is not None and value["path"] in state.tool_images


def _read(path, bytes_max):
    """The file's bytes, if there are no more; it may have changed since, or be gone."""
    try:
        with _open(path, "rb") as file:
            data = file.read(bytes_max + 1)
    except OSError:
        return None
    return data if len(data) <= bytes_max else None
