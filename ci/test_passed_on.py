"""Tests of real-clients/passed_on.py, on made-up values."""

import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER / name) for name in ("real-clients", "cluster-test")]

import nats_bus
import passed_on
from passed_on import LEADING, LEADS, STANDING_BY, STANDS_BY, TESTS_MIN

WAITS = "standing by until it's clear who leads the shared state"
AT = "listening on http://127.0.0.1:4444/mcp"


class Roles(unittest.TestCase):
    def check(self, leading, standing, states, *words):
        said = {LEADING: "\n".join([AT, *leading]), STANDING_BY: "\n".join([AT, *standing])}
        gateways = [{"name": name, "state": state} for name, state in states.items()]
        problems = passed_on.judge_pair(said, {"nodes": [], "gateways": gateways})
        self.assertEqual(len(problems), len(words), problems)
        for problem, word in zip(problems, words):
            self.assertIn(word, problem)

    def test_one_leads_and_the_other_stands_by_from_the_beginning_to_the_end(self):
        states = {LEADING: "leads", STANDING_BY: "stands by"}
        self.check([WAITS, LEADS], [STANDS_BY], states)
        self.check([WAITS, LEADS], [WAITS, STANDS_BY], states)

    def test_a_lead_that_changed_hands_is_told(self):
        overtaken = "note: another gateway leads now; standing by again"
        states = {LEADING: "stands by", STANDING_BY: "leads"}
        self.check([LEADS, overtaken], [STANDS_BY, LEADS], states, LEADING, STANDING_BY, '"stands by"')

    def test_a_lead_that_changed_hands_twice_is_told(self):
        states = {LEADING: "leads", STANDING_BY: "stands by"}
        self.check([LEADS], [STANDS_BY, LEADS], states, STANDING_BY)
        gave_up = "warning: this gateway can't lead the shared state any more: no space; standing by"
        self.check([LEADS, gave_up, LEADS], [STANDS_BY], states, LEADING)

    def test_one_that_is_gone_at_the_end_is_told(self):
        self.check([LEADS], [STANDS_BY], {LEADING: "leads"}, '{"gateway-1": "leads"}')

    def test_passing_nothing_on_is_told(self):
        self.assertEqual(passed_on.judge_connections(1), [])
        self.assertEqual(len(passed_on.judge_connections(0)), 1)

    def test_a_connection_that_was_passed_on_is_known_by_its_line_in_the_log(self):
        line = "2026-11-19T10:00:00.000Z DEBUG http: a connection was passed on from=gateway-2 pid=7"
        self.assertEqual(passed_on.connections(f"{line}\n{line}\n"), 2)
        self.assertEqual(passed_on.connections(line.replace("gateway-2", "gateway-20")), 0)


class Runs(unittest.TestCase):
    def test_tests_over_stdio_are_left_out_and_those_over_http_are_counted(self):
        class OverHttp(unittest.TestCase):
            transport = "http"

            def test_one(self):
                pass

            def test_other(self):
                pass

        class OverStdio(OverHttp):
            transport = "stdio"

        class OverNeither(unittest.TestCase):
            def test_one(self):
                pass

        load = unittest.defaultTestLoader.loadTestsFromTestCase
        tests = unittest.TestSuite([load(OverHttp), unittest.TestSuite([load(OverStdio), load(OverNeither)])])
        self.assertEqual(len(passed_on.each(tests)), 5)
        self.assertEqual(passed_on.leave_out_others(tests), {OverHttp})
        outcome = unittest.TestResult()
        tests.run(outcome)
        self.assertEqual([type(test) for test, _ in outcome.skipped], [OverStdio] * 2)
        self.assertEqual({reason for _, reason in outcome.skipped}, {passed_on.LEFT_OUT})

    def check(self, passed, pairs, classes, is_whole, count):
        self.assertEqual(len(passed_on.judge_run(passed, pairs, classes, is_whole)), count)

    def test_each_class_has_a_pair_and_few_tests_are_not_the_whole(self):
        self.check(TESTS_MIN, 15, 15, True, 0)
        self.check(TESTS_MIN - 1, 15, 15, True, 1)
        self.check(1, 1, 1, False, 0)
        self.check(TESTS_MIN, 14, 15, True, 1)
        self.check(1, 0, 1, False, 1)
        self.check(0, 0, 0, False, 1)


class Permissions(unittest.TestCase):
    def test_a_user_of_several_clusters_has_those_of_each(self):
        made = nats_bus.user("gateway-1", "UX", ["gateway-1"], [], shares_state=True, clusters=["pair-1", "pair-2"])
        for number in (1, 2):
            for subject in (f"gm.pair-{number}.state.log", f"$JS.API.STREAM.INFO.GM_PAIR_{number}_BLOBS"):
                self.assertIn(f'"{subject}"', made)
        self.assertNotIn("gm.test.", made)


if __name__ == "__main__":
    unittest.main()
