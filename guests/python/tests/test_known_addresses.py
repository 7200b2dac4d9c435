"""A component of two modules, one of which lends the other its globals and its table, before and after."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import component_file as wasm  # noqa: E402
from component_file import Unexpected, joined, sections, signed, unsigned  # noqa: E402
from known_addresses import with_known_addresses  # noqa: E402

MODULE, COMPONENT = b"\0asm\1\0\0\0", b"\0asm\r\0\1\0"
TABLE_NAME = "__indirect_function_table"
FUNCREF, I32 = 0x70, 0x7F
GET_BASE, GET_MOVED, SET_MOVED, ADD, END = b"\x23\x00", b"\x23\x01", b"\x24\x01", b"\x6a", b"\x0b"
BODY = GET_BASE + GET_MOVED + ADD + SET_MOVED + END
TABLE_GROWS = b"\xd0\x70\x41\x01\xfc\x0f\x00\x1a" + END


def name(text):
    return unsigned(len(text)) + text.encode()


def many(*entries):
    return unsigned(len(entries)) + b"".join(entries)


def lender():
    """A base that never changes, a number that does, and a table of three."""
    constant = lambda is_mutable, value: bytes([I32, is_mutable, 0x41]) + signed(value) + END
    exports = [("base", 3, 0), ("moved", 3, 1), (TABLE_NAME, 1, 0)]
    return joined(
        MODULE,
        [
            (wasm.TABLES, many(bytes([FUNCREF, 0]) + unsigned(3))),
            (wasm.GLOBALS, many(constant(1, 100_000), constant(1, -5))),
            (wasm.EXPORTS, many(*(name(text) + bytes([sort, index]) for text, sort, index in exports))),
        ],
    )


def borrower(body, exports=True):
    imports = [
        name("env") + name("base") + bytes([3, I32, 1]),
        name("env") + name("moved") + bytes([3, I32, 1]),
        name("env") + name(TABLE_NAME) + bytes([1, FUNCREF, 0, 2]),
    ]
    code = unsigned(0) + body
    parts = [(1, many(b"\x60\0\0")), (wasm.IMPORTS, many(*imports)), (3, many(b"\0"))]
    parts += [(wasm.EXPORTS, many(name("run") + b"\0\0"))] if exports else []
    return joined(MODULE, [*parts, (wasm.CODE, many(unsigned(len(code)) + code))])


def component(*borrowers):
    alias = lambda sort, text: bytes([0, sort, 1, 0]) + name(text)
    lent = [name("base") + b"\3\0", name("moved") + b"\3\1", name(TABLE_NAME) + b"\1\0"]
    instance = lambda module: b"\0" + unsigned(module) + many(name("env") + b"\x12\x01")
    return joined(
        COMPONENT,
        [
            (wasm.CORE_MODULE, lender()),
            *((wasm.CORE_MODULE, module) for module in borrowers),
            (wasm.CORE_INSTANCE, many(b"\0\0" + many())),
            (wasm.ALIAS, many(alias(3, "base"), alias(3, "moved"), alias(1, TABLE_NAME))),
            (wasm.CORE_INSTANCE, many(b"\1" + many(*lent), *(instance(n + 1) for n in range(len(borrowers))))),
        ],
    )


def parts_of(data):
    """Each module's sections by their ids."""
    return [dict(sections(content)) for kind, content in sections(data) if kind == wasm.CORE_MODULE]


class KnownAddresses(unittest.TestCase):
    def test_what_nobody_sets_becomes_a_constant_and_the_rest_stays(self):
        _, module = parts_of(with_known_addresses(component(borrower(BODY))))
        body = b"\0\x41" + signed(100_000) + GET_MOVED + ADD + SET_MOVED + END
        self.assertEqual(module[wasm.CODE], many(unsigned(len(body)) + body))

    def test_what_another_module_sets_stays_too(self):
        setter = b"\x41\x07\x24\x00" + END
        data = component(borrower(GET_BASE + b"\x1a" + END), borrower(setter))
        _, module, other = parts_of(with_known_addresses(data))
        self.assertIn(GET_BASE, module[wasm.CODE])
        self.assertIn(setter, other[wasm.CODE])

    def test_a_function_that_nobody_can_call_sets_nothing(self):
        setter = b"\x41\x07\x24\x00" + END
        data = component(borrower(BODY), borrower(setter, exports=False))
        self.assertNotIn(GET_BASE, parts_of(with_known_addresses(data))[1][wasm.CODE])

    def test_the_table_has_its_size_on_both_sides(self):
        lending, module = parts_of(with_known_addresses(component(borrower(BODY))))
        self.assertEqual(lending[wasm.TABLES], many(bytes([FUNCREF, 1, 3, 3])))
        self.assertTrue(module[wasm.IMPORTS].endswith(bytes([1, FUNCREF, 1, 3, 3])))

    def test_a_table_that_may_grow_is_left_alone(self):
        lending, module = parts_of(with_known_addresses(component(borrower(BODY[:-1] + TABLE_GROWS))))
        self.assertEqual(lending[wasm.TABLES], many(bytes([FUNCREF, 0, 3])))
        self.assertTrue(module[wasm.IMPORTS].endswith(bytes([1, FUNCREF, 0, 2])))

    def test_numbers_that_look_like_instructions_are_not_taken_for_them(self):
        constant = b"\x41\x23\x1a" + b"\x44" + GET_BASE * 4 + b"\x1a" + END
        _, module = parts_of(with_known_addresses(component(borrower(constant))))
        self.assertIn(constant, module[wasm.CODE])

    def test_an_instruction_that_is_not_known_is_refused(self):
        self.assertRaises(Unexpected, with_known_addresses, component(borrower(b"\xfd\x00" + END)))


class Numbers(unittest.TestCase):
    def test_they_come_back_as_they_were(self):
        for value in (0, 1, 63, 64, 127, 128, 8191, 8192, 2**31 - 1):
            self.assertEqual(wasm.Reader(unsigned(value)).unsigned(), value)
            for number in (value, -value, -value - 1):
                self.assertEqual(wasm.Reader(signed(number)).signed(), number)


if __name__ == "__main__":
    unittest.main()
