"""Answers with files: images, sound and other bytes of a tool become files of the workspace.

Such an answer is `F` and JSON: `{"value", "files": [{"mime", "base64", "name"}]}`. Every `{"$file": n}`
in the value gives way to where file n lies. The answer comes from a server that nobody trusts: it
chooses neither folder nor extension, replaces no file, and leaves none behind if one of them fails.
"""

import binascii
import io
import os
import string

from gristmill_guest import encoding, loop

# JSON never begins with it.
MARK = "F"
REFERENCE = "$file"
WORKSPACE = "/workspace"
FOLDER = "tool_files"
FILES_MAX = 1000
NAME_CHARS_MAX = 60
MIME_CHARS_MAX = 100
# Names in use that are passed over before the folder counts as full.
TAKEN_MAX = 100_000

EXTENSIONS = {
    "application/gzip": "gz",
    "application/json": "json",
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/xml": "xml",
    "application/zip": "zip",
    "audio/aac": "aac",
    "audio/flac": "flac",
    "audio/mp3": "mp3",
    "audio/mp4": "m4a",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/webm": "weba",
    "audio/x-wav": "wav",
    "image/avif": "avif",
    "image/bmp": "bmp",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/jpg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/tiff": "tif",
    "image/webp": "webp",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
    "text/xml": "xml",
    "video/mp4": "mp4",
    "video/webm": "webm",
}

_PLAIN = frozenset(string.ascii_letters + string.digits + "_-")
_open = io.open
_mkdir = os.mkdir
_remove = os.remove
_isdir = os.path.isdir
_a2b_base64 = binascii.a2b_base64


class Unusable(Exception):
    """The answer's files cannot be had. The tool has done its work all the same."""

    def __init__(self, message, code=None, kind="tool"):
        super().__init__(message)
        self.code = code
        self.kind = kind


def value_of(payload, tool, placed):
    """The value of an answer with files. `placed` remembers by number where the files of this answer lie."""
    value, files = _read(payload)
    root = [value]
    references = _references(root)
    missing = sorted({number for _, _, number in references if not 0 <= number < len(files)})
    if missing:
        raise Unusable(f"the tool's answer refers to file {missing[0]} but contains {len(files)}", "GM-1104")
    wanted = sorted({number for _, _, number in references} - placed.keys())
    if wanted:
        placed.update(_place({number: _File(files[number], number) for number in wanted}, tool))
    for container, key, number in references:
        container[key] = dict(placed[number])
    return root[0]


def _read(payload):
    try:
        answer = encoding.from_json(payload[len(MARK) :])
    except (ValueError, RecursionError):
        answer = None
    files = answer.get("files") if isinstance(answer, dict) else None
    if not isinstance(files, list) or "value" not in answer:
        raise Unusable("the tool's answer has files, but cannot be read", "GM-1104")
    if len(files) > FILES_MAX:
        raise Unusable(f"the tool's answer has {len(files):,} files; at most {FILES_MAX:,} are allowed", kind="limit")
    return answer["value"], files


def _references(root):
    """Container, key and number of each reference. Walks without recursion: the value may be deep."""
    found = []
    left = [root]
    while left:
        container = left.pop()
        for key, member in enumerate(container) if type(container) is list else container.items():
            if type(member) is dict and len(member) == 1 and type(member.get(REFERENCE)) is int:
                found.append((container, key, member[REFERENCE]))
            elif type(member) is dict or type(member) is list:
                left.append(member)
    return found


class _File:
    """One file of an answer, decoded."""

    def __init__(self, described, number):
        text = described.get("base64") if isinstance(described, dict) else None
        if not isinstance(text, str):
            raise Unusable(f"file {number} of the tool's answer has no base64 text", "GM-1104")
        self.data = _decoded("".join(text.split()))
        if self.data is None:
            raise Unusable(f"file {number} of the tool's answer is not base64", "GM-1104")
        mime = described.get("mime")
        mime = mime.split(";", 1)[0].strip().lower() if isinstance(mime, str) else ""
        self.mime = mime[:MIME_CHARS_MAX] or "application/octet-stream"
        self.extension = EXTENSIONS.get(self.mime, "bin")
        family = self.mime.split("/", 1)[0]
        self.kind = family if family in ("image", "audio") else "file"


def _decoded(text):
    # The decoder itself takes padding that is too much.
    if len(text) % 4:
        return None
    try:
        return _a2b_base64(text, strict_mode=True)
    except ValueError:
        return None


def _place(files, tool):
    """Writes all files or none; returns by number what stands for each in the value."""
    paths = []
    stands_for = {}
    try:
        for number, file in files.items():
            path = _write(file, _stem(tool), paths)
            stands_for[number] = {"type": file.kind, "path": path, "mime": file.mime, "bytes": len(file.data)}
            if file.kind == "image":
                loop.current().tool_images.add(path)
    except BaseException as error:
        for path in paths:
            _forget(path)
        if isinstance(error, OSError):
            raise _refused(file, error) from None
        raise
    return stands_for


def _write(file, stem, paths):
    folder = f"{WORKSPACE}/{FOLDER}"
    try:
        _mkdir(folder)
    except FileExistsError:
        if not _isdir(folder):
            raise Unusable(f"{folder} is a file; the tool's files go into a folder of that name: rename it") from None
    state = loop.current()
    for _ in range(TAKEN_MAX):
        state.tool_file_count += 1
        path = f"{folder}/{stem}-{state.tool_file_count}.{file.extension}"
        try:
            opened = _open(path, "xb")
        except FileExistsError:
            continue
        paths.append(path)
        with opened:
            opened.write(file.data)
        return path
    raise Unusable(f"{folder} is full; remove files from it", kind="limit")


def _refused(file, error):
    size = f"{file.mime}, {len(file.data):,} bytes"
    said = error.strerror or type(error).__name__
    return Unusable(
        f"the tool answered with a file ({size}) that doesn't fit in the workspace: {said}; "
        "remove files, or ask the tool for less",
        kind="limit",
    )


def _forget(path):
    try:
        _remove(path)
    except OSError:
        pass


def _stem(tool):
    """The tool's name without its server, as part of a file name."""
    name = tool.rsplit(".", 1)[-1][:NAME_CHARS_MAX]
    return "".join(character if character in _PLAIN else "_" for character in name).strip("-") or "tool"
