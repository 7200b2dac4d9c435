"""What a Linux binary needs of the system that it runs on, read from the file itself."""

import struct
from dataclasses import dataclass

MACHINES = {62: "x86_64", 183: "aarch64"}

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_STRSZ, DT_VERNEED, DT_VERNEEDNUM = 1, 5, 10, 0x6FFFFFFE, 0x6FFFFFFF
SHT_SYMTAB, SHT_NOBITS = 2, 8
# A binary has a handful; more is a broken file.
ENTRIES_MAX = 4096


class NotElf(ValueError):
    """The file isn't a 64-bit little-endian ELF binary, or is cut off."""


@dataclass(frozen=True)
class Needs:
    """The machine, the libraries, the symbol versions by library, and whether symbols are still inside."""

    machine: str
    libraries: tuple
    versions: dict
    has_symbols: bool

    def newest(self, family):
        """The highest version of a family, such as (2, 34) of GLIBC; none if it needs none."""
        found = [
            tuple(int(part) for part in version.removeprefix(f"{family}_").split("."))
            for versions in self.versions.values()
            for version in versions
            if version.startswith(f"{family}_") and version.removeprefix(f"{family}_")[:1].isdigit()
        ]
        return max(found, default=None)


def needs(data):
    try:
        return _needs(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise NotElf(f"the binary is cut off or broken: {error}") from error


def _needs(data):
    if data[:4] != b"\x7fELF" or data[4:6] != b"\x02\x01":
        raise NotElf("not a 64-bit little-endian ELF binary")
    (machine,) = struct.unpack_from("<H", data, 18)
    if machine not in MACHINES:
        raise NotElf(f"a binary for machine {machine}, which Gristmill isn't built for")
    headers_at, sections_at = struct.unpack_from("<QQ", data, 32)
    header_size, headers, section_size, sections = struct.unpack_from("<HHHH", data, 54)
    programs = [struct.unpack_from("<IIQQQQ", data, headers_at + index * header_size) for index in range(headers)]
    kinds = [struct.unpack_from("<I", data, sections_at + index * section_size + 4)[0] for index in range(sections)]
    loaded = [(address, size, offset) for kind, _, offset, address, _, size in programs if kind == PT_LOAD]
    dynamic = next(((offset, size) for kind, _, offset, _, _, size in programs if kind == PT_DYNAMIC), None)
    libraries, versions = (), {}
    if dynamic is not None:
        libraries, versions = _dynamic(data, *dynamic, loaded)
    return Needs(MACHINES[machine], tuple(libraries), versions, SHT_SYMTAB in kinds)


def _dynamic(data, offset, size, loaded):
    tags = {}
    needed = []
    for index in range(min(size // 16, ENTRIES_MAX)):
        tag, value = struct.unpack_from("<QQ", data, offset + index * 16)
        if tag == 0:
            break
        if tag == DT_NEEDED:
            needed.append(value)
        tags[tag] = value
    if DT_STRTAB not in tags:
        return [], {}
    texts_at = _place(tags[DT_STRTAB], loaded)
    texts = data[texts_at : texts_at + tags.get(DT_STRSZ, 0)]
    libraries = [_text(texts, at) for at in needed]
    versions = {}
    if DT_VERNEED in tags:
        at = _place(tags[DT_VERNEED], loaded)
        for _ in range(min(tags.get(DT_VERNEEDNUM, 0), ENTRIES_MAX)):
            _, count, library, entry, following = struct.unpack_from("<HHIII", data, at)
            names = versions.setdefault(_text(texts, library), [])
            entry += at
            for _ in range(min(count, ENTRIES_MAX)):
                _, _, _, name, next_entry = struct.unpack_from("<IHHII", data, entry)
                names.append(_text(texts, name))
                entry += next_entry
            at += following
    return libraries, versions


def _place(address, loaded):
    for start, size, offset in loaded:
        if start <= address < start + size:
            return address - start + offset
    raise NotElf(f"address {address:#x} is in no part of the file")


def _text(texts, at):
    end = texts.find(b"\0", at)
    if end < 0:
        raise NotElf("a name is outside of the table of names")
    return texts[at:end].decode("ascii")


def sections(data):
    """Name → bytes of every section; those without bytes in the file are left out."""
    try:
        (sections_at,) = struct.unpack_from("<Q", data, 40)
        size, count, names_at = struct.unpack_from("<HHH", data, 58)
        heads = [struct.unpack_from("<IIQQQQ", data, sections_at + index * size) for index in range(count)]
        _, _, _, _, start, length = heads[names_at]
        names = data[start : start + length]
        return {
            _text(names, name): data[offset : offset + extent]
            for name, kind, _, _, offset, extent in heads
            if kind not in (0, SHT_NOBITS)
        }
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise NotElf(f"the binary is cut off or broken: {error}") from error
