"""Results that are larger than the outcome may be."""

import json
import unittest

from gristmill_guest import large_result, result
from tests.fake_host import FakeHost, Refusal, run

ROWS = "result = [{'id': i, 'name': 'żółw' * 10} for i in range(1000)]"


class LargeResult(unittest.TestCase):
    def test_a_result_above_its_limit_is_handed_over_whole(self):
        fake = FakeHost()
        outcome = run(ROWS, fake, result_bytes=1000, large_bytes_max=1_000_000)
        self.assertTrue(outcome["ok"], outcome)
        self.assertEqual((outcome["has_result"], outcome["stored_result"]), (False, True))
        rows = json.loads("".join(fake.large_result))
        self.assertEqual(rows, [{"id": i, "name": "żółw" * 10} for i in range(1000)])

    def test_a_result_within_its_limit_stays_in_the_outcome(self):
        fake = FakeHost()
        outcome = run("result = [1, 2]", fake, result_bytes=1000, large_bytes_max=1_000_000)
        self.assertEqual((outcome["result"], outcome.get("stored_result")), ([1, 2], None))
        self.assertEqual(fake.large_result, [])

    def test_a_result_above_both_limits_fails_and_says_where(self):
        fake = FakeHost()
        outcome = run(ROWS, fake, result_bytes=1000, large_bytes_max=10_000)
        error = outcome["error"]
        self.assertEqual((error["kind"], error["limit"]["name"]), ("result_limit", "large_result_bytes"))
        self.assertIn("larger than 10,000 bytes as JSON (reached at result[", error["message"])
        self.assertEqual(fake.large_result, [])

    def test_what_the_gateway_cannot_store_is_told(self):
        fake = FakeHost()
        fake.large_result_refusal = {"message": "the disk is full", "kind": "result"}
        error = run(ROWS, fake, result_bytes=1000, large_bytes_max=1_000_000)["error"]
        self.assertEqual((error["kind"], error["message"]), ("result_limit", "the disk is full"))

    def test_parts_are_bounded_and_leave_nothing_out(self):
        kept, large_result.PART_CHARS_MAX = large_result.PART_CHARS_MAX, 10
        try:
            texts = ["a" * 25, "", "b" * 3, "c" * 8, "d"]
            parts = list(large_result.parts_of(texts))
        finally:
            large_result.PART_CHARS_MAX = kept
        self.assertEqual("".join(parts), "".join(texts))
        self.assertTrue(all(0 < len(part) <= 10 for part in parts), parts)

    def test_images_do_not_make_a_result_large(self):
        writer = result._Writer(None, 100, 10, 1000)
        self.assertEqual(writer._bytes_left - writer._bytes_extra, 100)


class FileNames(unittest.TestCase):
    def test_a_traceback_shows_the_name_of_the_script(self):
        error = run("x = 1\nx / 0", filename="report.py")["error"]
        self.assertIn('File "report.py", line 2\n    x / 0', error["traceback"])
        self.assertEqual(error["line"], 2)


class Stats(unittest.TestCase):
    def test_execution_stats_are_asked_of_the_gateway(self):
        fake = FakeHost(stats=lambda asked: {"executions": 3, "asked": asked})
        outcome = run("result = get_execution_stats(session='a')", fake)
        told = outcome["result"]
        self.assertEqual((told["executions"], told["asked"]["session"], told["asked"]["all"]), (3, "a", False))
        self.assertEqual(run("result = (await get_execution_stats())['executions']", fake)["result"], 3)

    def test_what_the_gateway_refuses_is_a_tool_error(self):
        def refuse(_asked):
            raise Refusal(message="this gateway records nothing", kind="stats", code="GM-2002")

        error = run("get_execution_stats()", FakeHost(stats=refuse))["error"]
        self.assertEqual(error["message"], "this gateway records nothing")


if __name__ == "__main__":
    unittest.main()
