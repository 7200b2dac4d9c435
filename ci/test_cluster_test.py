"""What the cluster test judges by, and its keys and configurations, on made-up values."""

import base64
import copy
import json
import random
import shutil
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER / name) for name in ("load-test", "cluster-test", "real-servers")]

import at_rest
import events
import nats_bus
import nkeys
import ran_on
import verdict
from verdict import ANSWERED, NAMED, NOT_NAMED, UNHEARD, Counted, Recovery


def booked(*ids):
    return [{"tool": "book", "id": one, "by": "gateway-1"} for one in ids]


class Bookings(unittest.TestCase):
    def check(self, entries, fates, expected):
        self.assertEqual(verdict.judge_bookings(entries, fates), expected)

    def test_one_entry_for_each_acknowledged_booking_is_right(self):
        looked = {"tool": "look", "id": "a-look", "by": "gateway-1"}
        fates = {"a": ANSWERED, "b": NAMED, "c": UNHEARD, "d": UNHEARD, "e": NOT_NAMED}
        self.check([looked, looked, *booked("a", "b", "c")], fates, [])

    def test_a_booking_that_was_made_twice_is_told_whatever_became_of_it(self):
        for fate in (ANSWERED, NAMED, UNHEARD):
            self.check(booked("a", "a"), {"a": fate}, ["1 bookings were made twice, such as a"])

    def test_a_lost_booking_is_told(self):
        expected = ["1 bookings were acknowledged and aren't in the journal, such as b"]
        self.check(booked("a"), {"a": ANSWERED, "b": ANSWERED}, expected)

    def test_a_booking_of_nobody_is_told(self):
        self.check(booked("a"), {}, ["1 bookings were made that nobody asked for, such as a"])

    def test_a_failure_that_hides_its_booking_is_told(self):
        expected = ["1 bookings were made by programs that failed and don't name them, such as a"]
        self.check(booked("a"), {"a": NOT_NAMED}, expected)


class Counters(unittest.TestCase):
    def check(self, seen, final, *words):
        problems = verdict.judge_counters({"s": Counted(seen, final)})
        self.assertEqual(len(problems), len(words), problems)
        for problem, word in zip(problems, words):
            self.assertIn(word, problem)

    def test_each_acknowledged_program_counts_once(self):
        self.check([1, 2, 3], 3)
        self.check([], 0)

    def test_one_that_was_not_heard_of_counts_or_not(self):
        self.check([1, None, 2], 2)
        self.check([1, None, 3], 3)
        self.check([1, None], 1)
        self.check([1, None], 2)

    def test_going_back_is_told(self):
        self.check([1, 2, 2], 2, "2 after 2")
        self.check([1, 2, 1], 1, "1 after 2")
        self.check([1, 2], 1, "1 after 2")

    def test_counting_twice_is_told(self):
        self.check([1, 3], 3, "3 after 1")
        self.check([1, None, 4], 4, "4 after 1")
        self.check([1], 2, "2 after 1")

    def test_a_counter_that_nobody_can_read_is_told(self):
        self.check([1], None, "can't be read")


class Records(unittest.TestCase):
    def check(self, outcome, answered, was_killed, count):
        events = [
            {"kind": "execution.begun", "execution": "a"},
            {"kind": "execution.ended", "execution": "a", "outcome": outcome},
        ]
        before = copy.deepcopy(events)
        self.assertEqual(len(verdict.judge_records("gateway-1", events, answered, was_killed)), count)
        self.assertEqual(events, before)

    def test_only_what_nobody_heard_of_is_lost_with_a_gateway(self):
        self.check("ok", {"a"}, False, 0)
        self.check("lost", set(), True, 0)
        self.check("lost", set(), False, 1)
        self.check("lost", {"a"}, True, 1)

    def test_a_missing_record_is_told_of_a_killed_gateway_too(self):
        events = [{"kind": "execution.begun", "execution": "a"}]
        self.assertEqual(len(verdict.judge_records("gateway-1", events, set(), True)), 1)


class Recoveries(unittest.TestCase):
    def check(self, first, caught, *words):
        problems = verdict.judge_recovery([Recovery("a node killed (node-1)", {"computing": first}, caught)])
        self.assertEqual(len(problems), len(words), problems)
        for problem, word in zip(problems, words):
            self.assertIn(word, problem)

    def test_bounds(self):
        self.check(1.0, 4.0)
        self.check(verdict.RECOVERY_SECONDS_MAX + 1, 4.0, "the first of kind computing")
        self.check(None, 4.0, "no program of kind computing")
        self.check(1.0, verdict.CAUGHT_SECONDS_MAX + 1, "a program that was under way")


class Ends(unittest.TestCase):
    def test_who_is_not_there_or_not_idle_is_told(self):
        status = {
            "nodes": [{"name": "node-1", "state": "ready", "places_used": 0}],
            "gateways": [{"name": "gateway-1", "on_nodes": 0, "waiting": 0}],
        }
        self.assertEqual(at_rest.judge_idle(status, ["node-1"], ["gateway-1"]), [])
        self.assertEqual(len(at_rest.judge_idle(status, ["node-1", "node-2"], ["gateway-1", "gateway-2"])), 2)
        status["nodes"][0]["places_used"], status["gateways"][0]["waiting"] = 1, 1
        self.assertEqual(len(at_rest.judge_idle(status, ["node-1"], ["gateway-1"])), 2)

    def test_what_doctor_says_is_held_against_who_is_there(self):
        found = {
            "state": "ok",
            "cluster": "test",
            "node": "gateway-1",
            "nkey": True,
            "nodes": [{"name": "node-1", "state": "ready"}, {"name": "node-2", "state": "ready"}],
            "gateways": None,
        }
        judge = lambda found: verdict.judge_doctor("gateway-1", found, ["node-2", "node-1"], None)
        self.assertEqual(judge(found), [])
        drains = [{"name": "node-1", "state": "draining"}, {"name": "node-2", "state": "ready"}]
        for wrong in (
            None,
            {**found, "state": "wrong"},
            {**found, "node": "node-1"},
            {**found, "nodes": drains},
            {**found, "nodes": None},
            {**found, "gateways": []},
        ):
            self.assertEqual(len(judge(wrong)), 1, wrong)

    def test_a_process_that_is_left_is_told(self):
        self.assertEqual(at_rest.judge_left({}), [])
        self.assertEqual(at_rest.judge_left({7: "sleep 600 "}), ["process 7 is left at the end: sleep 600"])


class Places(unittest.TestCase):
    def ended(self, outcome="ok", **more):
        return {"kind": "execution.ended", "execution": "e", "outcome": outcome, **more}

    def check(self, events, expected, keeping=(), skill_tests=0):
        self.assertEqual(ran_on.judge_gateway(events, keeping, skill_tests), expected)

    def test_what_ran_in_the_gateway_is_told_unless_it_keeps_variables(self):
        there, here = self.ended(node="node-1"), self.ended(session="s")
        self.check([there, here], [], keeping={"s"})
        for keeping in ((), {"t"}):
            self.check([there, here], ["1 of 2 programs ran on no node: e"], keeping)

    def test_tests_of_skills_run_in_the_gateway_and_no_more_than_they(self):
        self.check([self.ended()], [], skill_tests=1)
        found = ["2 of 2 programs ran on no node, 1 of them tests of skills: e, e"]
        self.check([self.ended(), self.ended()], found, skill_tests=1)

    def test_only_what_ended_well_counts(self):
        events = [{"kind": "execution.begun"}, self.ended("failed"), self.ended("lost"), self.ended(node="node-1")]
        self.check(events, [])
        exported = "".join(json.dumps({"event": event}) + "\n" for event in events)
        self.assertEqual(ran_on.on_each(ran_on.read(exported)), {"node-1": 1})

    def test_a_node_without_programs_and_one_of_nobody_are_told(self):
        self.assertEqual(ran_on.judge_nodes(["node-1"], {None: 3, "node-1": 1}), [])
        found = ran_on.judge_nodes(["node-1", "node-2"], {"node-2": 1, "node-3": 1})
        self.assertEqual(found, ["no program ran on node-1", "programs ran on node-3"])


class Drawing(unittest.TestCase):
    def test_a_dozen_has_all_kinds_and_the_same_seed_draws_the_same(self):
        drawn = events.drawn(12, random.Random(5))
        self.assertEqual({name: drawn.count(name) for name in events.SHARES}, events.SHARES)
        self.assertEqual(drawn, events.drawn(12, random.Random(5)))
        self.assertEqual(len(events.drawn(50, random.Random(5))), 50)
        cut = events.drawn(12, random.Random(5), events.PARTITION_SHARES)
        self.assertEqual({name: cut.count(name) for name in cut}, events.PARTITION_SHARES)
        self.assertEqual(set(events.HAPPEN), {*events.SHARES, *events.PARTITION_SHARES})


class Keys(unittest.TestCase):
    # From NATS' own documents.
    SEED = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
    PUBLIC = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"

    def raw(self, text):
        return base64.b32decode(text + "=" * (-len(text) % 8))

    def test_seeds_and_public_keys_are_written_as_nats_does(self):
        self.assertEqual(nkeys.seed_text(self.raw(self.SEED)[2:-2]), self.SEED)
        self.assertEqual(nkeys.public_text(self.raw(self.PUBLIC)[1:-2]), self.PUBLIC)

    @unittest.skipIf(shutil.which("openssl") is None, "openssl is missing")
    def test_openssl_finds_the_same_public_key(self):
        # PKCS#8 around the 32 bytes.
        private = bytes.fromhex("302e020100300506032b657004220420") + self.raw(self.SEED)[2:-2]
        self.assertEqual(nkeys.public_text(nkeys.public_part(private)), self.PUBLIC)

    def test_a_machine_may_speak_under_its_own_name_only(self):
        gateways, nodes = ["gateway-1"], ["node-1"]
        line = nats_bus.user("gateway-1", "UX", gateways, nodes)
        self.assertIn('publish: ["gm.test.gate.gateway-1", "gm.test.n.*.l.gateway-1.*"]', line)
        line = nats_bus.user("node-1", "UX", gateways, nodes)
        self.assertIn('subscribe: ["gm.test.n.node-1.>", "gm.test.gate.*"]', line)
        self.assertIn('publish: ["gm.test.n.*.order"]', nats_bus.user("operator", "UX", gateways, nodes))


class Installing(unittest.TestCase):
    def test_only_a_registry_that_is_out_of_reach_is_an_excuse(self):
        self.assertTrue(nats_bus.is_unreachable("Retrying after connection broken by 'NewConnectionError'"))
        self.assertFalse(nats_bus.is_unreachable("ERROR: No matching distribution found"))
        self.assertFalse(nats_bus.is_unreachable("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES … timed out"))


if __name__ == "__main__":
    unittest.main()
