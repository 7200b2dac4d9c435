"""The parts of a WebAssembly component's file that `known_addresses` and `optimizer` look at and change."""

CORE_MODULE, CORE_INSTANCE, ALIAS = 1, 2, 6
IMPORTS, TABLES, GLOBALS, EXPORTS, START, CODE = 2, 4, 6, 7, 8, 10

# Sorts of what a core module imports and exports.
FUNCTION, TABLE, MEMORY, GLOBAL = 0, 1, 2, 3


class Unexpected(Exception):
    """The file has something that its maker has not put there before."""


class Reader:
    """Numbers and names, one after another."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def unsigned(self):
        return self.number()[0]

    def signed(self):
        value, bits, is_negative = self.number()
        return value - (1 << bits) if is_negative else value

    def number(self):
        """Its bits as they stand, how many there are, and whether the last one is set."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value, shift, bool(byte & 0x40)

    def name(self):
        length = self.unsigned()
        self.at += length
        return bytes(self.data[self.at - length : self.at]).decode()

    def limits(self):
        """The least, and the most if there is one."""
        flags = self.byte()
        if flags > 1:
            raise Unexpected(f"limits with the flags {flags}")
        least = self.unsigned()
        return least, self.unsigned() if flags else None


def unsigned(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value):
    out = bytearray()
    while not -0x40 <= value < 0x40:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0x7F)
    return bytes(out)


def sections(data):
    """Of a component or a module: pairs of an id and the content."""
    reader, found = Reader(data, 8), []
    while reader.at < len(data):
        kind, size = reader.byte(), reader.unsigned()
        found.append((kind, data[reader.at : reader.at + size]))
        reader.at += size
    return found


def joined(header, parts):
    """A component or a module of these sections."""
    out = bytearray(header)
    for kind, content in parts:
        out.append(kind)
        out += unsigned(len(content))
        out += content
    return bytes(out)
