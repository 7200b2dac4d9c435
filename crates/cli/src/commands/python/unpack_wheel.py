"""Unpacks one wheel of pure Python, or says why it isn't one: wheel, folder, names that no package may have.

Nothing of the wheel runs. What it holds is hostile: every name is looked at before anything is written, and bytes are
counted as they come, not as the archive says.
"""

import json
import os
import stat
import sys
import zipfile

FILES_MAX = 20_000
FILE_BYTES_MAX = 32 << 20
ALL_BYTES_MAX = 256 << 20
PATH_CHARS_MAX = 240
DEPTH_MAX = 24
CHUNK_BYTES = 1 << 20
WHEEL_BYTES_MAX = 64 << 10

COMPILED = (".so", ".pyd", ".dll", ".dylib", ".a", ".o", ".lib", ".exe", ".wasm")
# Of what says which package it is; nothing else of it is of use to a program.
METADATA_KEPT = ("METADATA", "RECORD", "top_level.txt", "entry_points.txt")
# Often packed by mistake, and by more than one package.
STRAY = ("test", "tests")


class Refused(Exception):
    pass


def parts_of(name):
    """The name of an entry as parts of a path beneath the folder."""
    if len(name) > PATH_CHARS_MAX or "\\" in name or ":" in name or not name.isprintable():
        raise Refused(f"it has a file with the name {shown(name)}")
    parts = name.split("/")
    if name.startswith("/") or len(parts) > DEPTH_MAX or any(part in ("", ".", "..") for part in parts):
        raise Refused(f"it has a file outside of its folder: {shown(name)}")
    return parts


def shown(name):
    return ascii(name[:100])


def is_compiled(name):
    lower = name.lower()
    return lower.endswith(COMPILED) or ".so." in lower


def wanted(info, taken):
    """Where an entry goes, as parts, or nothing if it is left out."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.filename.endswith("/"):
        parts_of(info.filename.rstrip("/"))
        return None
    parts = parts_of(info.filename)
    if kind not in (0, stat.S_IFREG):
        raise Refused(f"{shown(info.filename)} is a link or a device")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # Others are unpacked in pieces of any size, before a byte can be counted.
        raise Refused(f"{shown(info.filename)} is packed in a way that wheels aren't")
    if info.flag_bits & 1:
        raise Refused(f"{shown(info.filename)} is encrypted")
    if is_compiled(parts[-1]):
        raise Refused(f"it has compiled code: {shown(info.filename)}")
    if parts[0].endswith(".data"):
        raise Refused(f"it has files that belong outside of its package: {shown(info.filename)}")
    if parts[0].endswith(".dist-info"):
        return parts if len(parts) == 2 and parts[1] in METADATA_KEPT else None
    if parts[-1].endswith((".pth", ".pyc")) or "__pycache__" in parts or (len(parts) > 1 and parts[0] in STRAY):
        return None
    if len(parts) == 1 and not parts[0].endswith(".py"):
        return None
    module = parts[0].removesuffix(".py") if len(parts) == 1 else parts[0]
    if not module.isidentifier():
        raise Refused(f"{shown(parts[0])} can't be imported")
    if module in taken or module in sys.stdlib_module_names:
        raise Refused(f"it would bring another module `{module}`, which is the sandbox's own")
    return parts


def write(archive, info, path, room):
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    size = 0
    with archive.open(info) as source, open(path, "xb") as target:
        while chunk := source.read(CHUNK_BYTES):
            size += len(chunk)
            if size > FILE_BYTES_MAX:
                raise Refused(f"{shown(info.filename)} is larger than {FILE_BYTES_MAX >> 20} MB")
            if size > room:
                raise Refused(f"it is larger than {ALL_BYTES_MAX >> 20} MB")
            target.write(chunk)
    return size


def beginning(archive, info):
    with archive.open(info) as source:
        return source.read(WHEEL_BYTES_MAX)


def unpack(wheel, folder, taken):
    with zipfile.ZipFile(wheel) as archive:
        entries = archive.infolist()
        if len(entries) > FILES_MAX:
            raise Refused(f"it has more than {FILES_MAX} files")
        places = [(info, wanted(info, taken)) for info in entries]
        about = [info for info in entries if info.filename.endswith(".dist-info/WHEEL")]
        if len(about) != 1 or b"root-is-purelib: true" not in beginning(archive, about[0]).lower():
            raise Refused("it doesn't say that it is pure Python")
        places = [(info, parts) for info, parts in places if parts is not None]
        if not any(parts[-1].endswith(".py") for _, parts in places):
            raise Refused("it has no module")
        room = ALL_BYTES_MAX
        for info, parts in places:
            try:
                room -= write(archive, info, os.path.join(folder, *parts), room)
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                raise Refused(f"{shown(info.filename)} is there already, of this or another package") from None


def main(wheel, folder, taken):
    os.umask(0o022)
    try:
        unpack(wheel, folder, frozenset(taken.split()))
        problem = None
    except Refused as error:
        problem = str(error)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        problem = f"it can't be read: {type(error).__name__}"
    except OSError as error:
        problem = f"it can't be unpacked: {error.strerror}"
    except Exception as error:
        # Such as zlib's own.
        problem = f"it can't be read: {type(error).__name__}"
    json.dump({"problem": problem}, sys.stdout)


main(*sys.argv[1:])
