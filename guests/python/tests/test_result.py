import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import math
import pathlib
import unittest
import uuid

from gristmill_guest import notes, result


def convert(value, bytes_max=100_000, depth_max=50):
    kept = notes.Notes()
    text = result.to_json(value, kept, bytes_max, depth_max)
    return json.loads(text), kept.texts()


Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Row:
    name: str
    tags: set


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class ValuesBecomeJson(unittest.TestCase):
    def check(self, value, expected, *expected_notes):
        self.assertEqual(convert(value), (expected, list(expected_notes)))

    def test_json_values_stay_as_they_are(self):
        value = {"a": [1, 2.5, None, True, 'é\n"\\'], "b": {}}
        self.check(value, value)

    def test_containers_become_lists(self):
        for value in ((1, 2), {2, 1}, frozenset((1, 2)), collections.deque((1, 2)), range(1, 3), {1: 0, 2: 0}.keys()):
            self.check(value, [1, 2])

    def test_mappings_become_objects(self):
        self.check(collections.Counter("aab"), {"a": 2, "b": 1})
        ordered = collections.OrderedDict(a=1, b=2)
        ordered.move_to_end("a")
        self.assertEqual(list(convert(ordered)[0]), ["b", "a"])
        self.check(collections.ChainMap({"a": 1}), {"a": 1})
        backwards = type("Backwards", (dict,), {"__iter__": lambda self: reversed(list(dict.keys(self)))})
        self.assertEqual(list(convert(backwards(a=1, b=2))[0]), ["b", "a"])
        self.check(Point(1, 2), {"x": 1, "y": 2})
        self.check(Row("n", {3}), {"name": "n", "tags": [3]})

    def test_known_types_become_text_or_numbers(self):
        for value, expected in (
            (datetime.date(2026, 1, 2), "2026-01-02"),
            (datetime.datetime(2026, 1, 2, 3), "2026-01-02T03:00:00"),
            (datetime.time(1, 2), "01:02:00"),
            (datetime.timedelta(minutes=1), 60),
            (datetime.timedelta(milliseconds=1500), 1.5),
            (decimal.Decimal("1.10"), "1.10"),
            (fractions.Fraction(1, 3), "1/3"),
            (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
            (pathlib.PurePosixPath("a/b"), "a/b"),
            (Colour.RED, "red"),
            (Level.HIGH, 3),
            (b"text", "text"),
            (b"\xff", {"$file": {"media_type": "application/octet-stream", "bytes": 1, "base64": "/w=="}}),
            (ValueError("no"), "ValueError: no"),
            ("\ud800", "\ufffd"),
        ):
            with self.subTest(value=value):
                self.check(value, expected)

    def test_bytes_that_are_no_text_say_what_they_are(self):
        for data, kind in (
            (b"\x89PNG\r\n\x1a\n", "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF89a\xff", "image/gif"),
            (b"RIFF\xff\xff\xff\xffWEBP", "image/webp"),
            (b"%PDF-1.7\xff", "application/pdf"),
            (b"RIFF\xff", "application/octet-stream"),
        ):
            value, told = convert({"deep": [bytearray(data)]})
            file = value["deep"][0]["$file"]
            self.assertEqual((file["media_type"], file["bytes"], told), (kind, len(data), []))
            self.assertEqual(base64.b64decode(file["base64"], validate=True), data)

    def test_keys_follow_json_dumps(self):
        self.check(
            {None: 1, True: 2, 3: 3, 1.5: 4, Colour.RED: 5, (1, 2): 6},
            {
                "null": 1,
                "true": 2,
                "3": 3,
                "1.5": 4,
                "red": 5,
                "(1, 2)": 6,
            },
        )

    def test_numbers_that_json_lacks_become_text_with_one_note(self):
        self.check(
            [math.nan, math.inf, -math.inf],
            ["NaN", "Infinity", "-Infinity"],
            "NaN and Infinity are not JSON; they are written as text",
        )

    def test_a_giant_integer_is_named_not_written(self):
        self.check(10**5000, "<integer of 16610 bits>", "result is an integer of 16610 bits, so it isn't written out")
        self.check(10**4299, 10**4299)

    def test_a_cycle_is_cut_and_named(self):
        value = {"a": []}
        value["a"].append(value)
        self.check(value, {"a": ["<cycle>"]}, "result.a[0] refers back to result; the cycle is cut")

    def test_rows_of_plain_values_take_the_fast_way_with_the_same_answer(self):
        rows = [{"id": n, "name": f"n{n}é", "ok": n % 2 == 0, "v": n / 3, "none": None} for n in range(50)]
        self.check(rows, rows)
        self.check([{"a": math.inf}], [{"a": "Infinity"}], "NaN and Infinity are not JSON; they are written as text")
        self.check([{"a": "\udc00"}], [{"a": "\ufffd"}])

    def test_the_same_object_twice_is_no_cycle(self):
        shared = [1]
        self.check([shared, shared], [[1], [1]])

    def test_a_generator_is_read_up_to_its_limit(self):
        self.check((n for n in range(3)), [0, 1, 2])
        endless, told = convert(iter(int, 1))
        self.assertEqual(len(endless), result.GENERATOR_ITEMS_MAX)
        self.assertEqual(len(told), 1)

    def test_other_objects_show_their_repr(self):
        class Thing:
            def __repr__(self):
                return "T" * 1000

        value, told = convert([Thing()])
        self.assertEqual(len(value[0]), result.REPR_CHARS_MAX)
        self.assertEqual(told, ["result[0] is of type Thing; its repr is shown"])


class LimitsHold(unittest.TestCase):
    def check(self, value, name, limit, **limits):
        with self.assertRaises(result.ResultLimit) as caught:
            convert(value, **limits)
        self.assertEqual((caught.exception.name, caught.exception.value), (name, limit))

    def test_depth(self):
        self.check([[[1]]], "result_depth", 2, depth_max=2)
        self.assertEqual(convert([[[1]]], depth_max=3)[0], [[[1]]])
        self.check([b"\xff"], "result_depth", 2, depth_max=2)
        self.assertEqual(list(convert([b"\xff"], depth_max=3)[0][0]), ["$file"])

    def test_size_counts_utf8_bytes(self):
        self.assertEqual(convert("éé", bytes_max=6)[0], "éé")
        self.check("éé", "result_bytes", 5, bytes_max=5)

    def test_a_giant_stops_early(self):
        self.check((0 for _ in iter(int, 1)), "result_bytes", 100, bytes_max=100)
        self.check("x" * 10_000_000, "result_bytes", 100, bytes_max=100)
        self.check(bytes(10_000_000), "result_bytes", 100, bytes_max=100)
        self.check(["x" * 1_000_000] * 1_000_000, "result_bytes", 100, bytes_max=100)
        laughs = ["ha"]
        for _ in range(40):
            laughs = [laughs, laughs]
        self.check(laughs, "result_bytes", 10_000, bytes_max=10_000)


class HostileObjectsDoNoHarm(unittest.TestCase):
    def test_subclasses_are_read_through_the_built_in_methods(self):
        def refuse(*_):
            raise RuntimeError("no")

        members = dict.fromkeys(
            "items keys __iter__ __str__ __repr__ __len__ isoformat __format__ encode".split(), refuse
        )
        for base, args, expected in (
            (dict, ({"a": 1},), {"a": 1}),
            (list, ([1],), [1]),
            (str, ("s",), "s"),
            (float, (1.5,), 1.5),
            (int, (7,), 7),
        ):
            with self.subTest(base=base.__name__):
                hostile = type("Hostile", (base,), dict(members))
                self.assertEqual(convert(hostile(*args))[0], expected)

    def test_a_failing_repr_is_named(self):
        class Bomb:
            def __repr__(self):
                raise ValueError

        self.assertEqual(convert(Bomb())[0], "<unprintable: ValueError>")

    def test_a_lying_class_attribute_is_not_believed(self):
        class Liar:
            __class__ = dict

            def __repr__(self):
                return "liar"

        self.assertEqual(convert(Liar())[0], "liar")

    def test_an_iterator_that_fails_keeps_what_it_gave(self):
        def broken():
            yield 1
            raise KeyError("x")

        self.assertEqual(convert(broken()), ([1], ["result couldn't be read to the end: KeyError: 'x'"]))

    def test_a_set_that_cannot_be_sorted_still_converts(self):
        self.assertEqual(sorted(map(str, convert({1, "a", None})[0])), ["1", "None", "a"])


if __name__ == "__main__":
    unittest.main()
