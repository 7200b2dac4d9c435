"""What the load test judges by, on made-up answers, records and samples."""

import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "load-test"))

import judge
import programs
from judge import Bounds, Sample


def begun(execution):
    return {"kind": "execution.begun", "execution": execution}


def ended(execution, outcome="ok"):
    return {"kind": "execution.ended", "execution": execution, "outcome": outcome}


def answer(code=None, **content):
    if code is not None:
        content["error"] = {"code": code, "message": "why"}
    return {"result": {"structuredContent": content, "isError": code is not None}}


class Audits(unittest.TestCase):
    def check(self, events, answered, expected):
        self.assertEqual(judge.judge_audit(events, answered), expected)

    def test_one_final_record_for_each_execution_is_right(self):
        self.check([begun("a"), begun("b"), ended("b", "failed"), ended("a"), {"kind": "call"}], {"a"}, [])

    def test_a_missing_record_is_told_with_an_example(self):
        self.check(
            [begun("a"), begun("b"), ended("b")],
            {"a"},
            [
                "1 executions were answered and have no final record, such as a",
                "1 executions began and have no final record, such as a",
            ],
        )

    def test_records_that_are_there_twice_or_for_nothing_are_told(self):
        self.check(
            [begun("a"), begun("a"), ended("a"), ended("a"), ended("b")],
            {"a"},
            [
                "1 executions have more than one final record, such as a",
                "1 executions began more than once, such as a",
                "1 executions have a final record and never began, such as b",
            ],
        )

    def test_an_execution_that_was_lost_is_told(self):
        self.check([begun("a"), ended("a", "lost")], set(), ["1 executions were lost, such as a"])


class Answers(unittest.TestCase):
    def judged(self, given, **request):
        request = programs.Request("kind", "execute_code", {"code": "pass"}, **request)
        return judge.judge_answer(request, given)

    def test_a_good_program_must_give_its_result(self):
        self.assertEqual(self.judged(answer(result=4), result=4), (False, []))
        for wrong in (answer(result=5), answer("GM-1102"), {"error": {"code": -32603}}):
            self.assertEqual(len(self.judged(wrong, result=4)[1]), 1, wrong)

    def test_a_bad_program_must_fail_in_its_own_way(self):
        self.assertEqual(self.judged(answer("GM-1201"), codes=("GM-1201",)), (False, []))
        self.assertEqual(len(self.judged(answer(result=1), codes=("GM-1201",))[1]), 1)
        self.assertEqual(len(self.judged(answer("GM-1102"), codes=("GM-1201",))[1]), 1)
        self.assertEqual(len(self.judged(answer("GM-4002"), codes=("GM-",))[1]), 1)

    def test_one_that_must_wait_is_no_failure(self):
        self.assertEqual(self.judged(answer("GM-2001"), result=4), (True, []))

    def test_a_canary_is_found_wherever_it_is(self):
        told = answer(result={"deep": [f"x{programs.CANARY}"]})
        self.assertEqual(len(self.judged(told, may_succeed=True)[1]), 1)

    def test_what_is_shown_of_a_long_list_is_told_from_another(self):
        stored = programs.StoredList(100)
        self.assertEqual(stored, [0, 1, 2, "… 95 of 100 items not shown …", 98, 99])
        self.assertNotEqual(stored, [0, 1, 2, 98])


class Samples(unittest.TestCase):
    before = Sample(gateway_bytes=50 << 20, all_bytes=200 << 20, descriptors=40, processes=10)

    def test_a_few_more_are_no_leak_and_many_are(self):
        self.assertEqual(judge.judge_leaks(self.before, Sample(descriptors=45, processes=12)), [])
        self.assertEqual(
            judge.judge_leaks(self.before, Sample(descriptors=70, processes=20)),
            ["70 descriptors after the load, 40 before it", "20 processes after the load, 10 before it"],
        )

    def test_memory_is_held_to_its_bounds(self):
        bounds = Bounds(gateway_bytes=100 << 20, all_bytes=300 << 20, kept_bytes=10 << 20)
        self.assertEqual(judge.judge_memory(self.before, self.before, self.before, bounds), [])
        large = Sample(gateway_bytes=101 << 20, all_bytes=301 << 20)
        self.assertEqual(len(judge.judge_memory(self.before, large, large, bounds)), 3)

    def test_percentiles_are_values_that_were_seen(self):
        values = list(range(1, 101))
        self.assertEqual([judge.percentile(values, share) for share in (0.5, 0.99, 1)], [50, 99, 100])
        self.assertEqual(judge.percentile([7], 0.99), 7)
        self.assertIsNone(judge.percentile([], 0.5))


class Programs(unittest.TestCase):
    def test_every_kind_is_asked_for_and_the_same_seed_asks_for_the_same(self):
        def requests(seed):
            caller = programs.Caller(3, random.Random(seed))
            return [caller.next_request() for _ in range(500)]

        first = requests(1)
        self.assertEqual(len({request.kind for request in first}), len(programs.KINDS))
        self.assertEqual([one.arguments for one in first], [one.arguments for one in requests(1)])
        good = [request for request in first if request.is_good]
        self.assertTrue(all(request.kind.startswith("good: ") for request in good))
        self.assertGreater(len(good), 200)


if __name__ == "__main__":
    unittest.main()
