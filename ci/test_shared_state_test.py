"""What the test of a shared state judges by, and its tasks and permissions, on made-up values."""

import ast
import random
import sqlite3
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER / name) for name in ("load-test", "cluster-test", "shared-state-test", "real-servers")]

import agreement
import askers
import mishaps
import nats_bus
import sharing
import tasks
import verdict
from agreement import DATABASE
from events import drawn
from sharing import Away


class Copies(unittest.TestCase):
    def check(self, copy, *expected):
        original = {DATABASE: "d", "results/o/a.json": "r", "audit.mark": "m"}
        found = agreement.judge_copies("gateway-1", {"gateway-1": original, "gateway-2": copy, "gateway-3": original})
        self.assertEqual(found, list(expected))

    def test_a_copy_is_the_same_in_every_file(self):
        self.check({DATABASE: "d", "results/o/a.json": "r", "audit.mark": "m"})
        self.check({DATABASE: "d", "audit.mark": "m"}, "the copy of gateway-2 lacks 1 of 3: results/o/a.json")
        more = {DATABASE: "d", "results/o/a.json": "r", "audit.mark": "m", "results/o/b.json": "r"}
        self.check(more, "the copy of gateway-2 has too much 1 of 3: results/o/b.json")
        other = {DATABASE: "e", "results/o/a.json": "s", "audit.mark": "m"}
        self.check(other, f"the copy of gateway-2 has otherwise 2 of 3: {DATABASE}, results/o/a.json")

    def test_one_that_leads_without_a_copy_of_the_database_is_told(self):
        self.assertEqual(len(agreement.judge_copies("gateway-1", {"gateway-1": {}})), 1)

    def test_only_what_is_shared_is_compared(self):
        shared = ["sessions/s/workspace/deep/file", "results/o/a.json", "skills/one/skill.py", DATABASE, "pins.json"]
        own = ["gristmill.db", "sessions/s/lock", "results/o/.a.json", "skills/one.lock", "skills/.new/x", "logs/x.log"]
        with tempfile.TemporaryDirectory() as folder:
            for path in [*shared, *own]:
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / path).write_text(path)
            found = agreement.copy_of(Path(folder))
        folders = {path for path, digest in found.items() if digest == "a folder"}
        self.assertEqual(folders, {"sessions/s/workspace/deep"})
        self.assertEqual(found.keys() - folders, set(shared))


class Databases(unittest.TestCase):
    def test_one_that_is_not_whole_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "gristmill.db"
            database = sqlite3.connect(path)
            database.execute("create table t (x)")
            database.executemany("insert into t values (?)", [("x" * 100,)] * 1_000)
            database.commit()
            database.close()
            self.assertEqual(agreement.judge_database("gateway-1", path), [])
            path.write_bytes(path.read_bytes()[:-8_192])
            self.assertEqual(len(agreement.judge_database("gateway-1", path)), 1)


class Leading(unittest.TestCase):
    def check(self, states, count):
        names = ["a", "b", "c"]
        gateways = [{"name": name, "state": state} for name, state in zip(names, states)]
        self.assertEqual(len(agreement.judge_leading({"gateways": gateways}, names)), count)

    def test_exactly_one_leads_and_all_are_there(self):
        self.check(["leads", "stands by", "stands by"], 0)
        self.check(["leads", "leads", "stands by"], 1)
        self.check(["stands by", "stands by", "stands by"], 1)
        self.check(["leads", "stands by"], 1)
        self.check(["leads", "stands by", None], 1)


class History(unittest.TestCase):
    def test_what_was_answered_is_in_it_once(self):
        self.assertEqual(agreement.judge_history(["a", "b"], {"a"}), [])
        self.assertEqual(len(agreement.judge_history(["b"], {"a"})), 1)
        self.assertEqual(len(agreement.judge_history(["a", "a"], {"a"})), 1)


class Recoveries(unittest.TestCase):
    def test_the_bus_has_more_time(self):
        late = verdict.Recovery("x", {"counting": 15.0}, 20.0)
        self.assertEqual(len(verdict.judge_recovery([late])), 2)
        late.first_seconds_max = mishaps.BUS_FIRST_SECONDS_MAX
        late.caught_seconds_max = mishaps.BUS_CAUGHT_SECONDS_MAX
        self.assertEqual(verdict.judge_recovery([late]), [])


class Silences(unittest.TestCase):
    def test_no_answer_is_right_while_something_is_away_and_for_so_long_after(self):
        away = Away(began=10.0, after_seconds=15)
        self.assertTrue(away.covers(sent=1_000.0, until=1_001.0))
        self.assertFalse(away.covers(sent=5.0, until=9.9))
        away.ended = 20.0
        self.assertTrue(away.covers(sent=35.0, until=36.0))
        self.assertFalse(away.covers(sent=35.1, until=36.0))


class World:
    """As much of a cluster as a caller looks at."""

    def __init__(self, is_away, network=None):
        self.gateways, self.tokens, self.is_away, self.network = [], {}, is_away, network

    def was_away(self, sent, until):
        return self.is_away

    def make_tokens(self, names):
        self.tokens = dict.fromkeys(names, "token")

    def note(self, what):
        pass


class FakeGateway:
    address, port = "127.0.0.1", 1

    def __init__(self, name="gateway-1"):
        self.name, self.is_silent = name, False


class Answers(unittest.TestCase):
    """What a caller makes of an answer."""

    def asker(self, kind, is_away=False):
        load = askers.Load(World(is_away), 1)
        load.gateways.append(FakeGateway())
        return load, next(one for one in load.askers if one.kind == kind)

    def one(self, asker, content):
        asker.ask = lambda gateway, task: (content(task) if callable(content) else content, "execution-1")
        asker.one()

    def failed(self, code, message="it failed"):
        return {"status": "failed", "error": {"code": code, "message": message}}

    def test_counts_are_kept_as_they_were_answered(self):
        load, asker = self.asker("counting")
        left = {"found": tasks.NOTHING, "left": "l"}
        self.one(asker, {"status": "ok", "result": {"file": 1, "state": 1, **left}})
        self.one(asker, {"status": "ok", "result": {"file": 2, "state": 2, "found": "l", "left": "m"}})
        self.assertEqual(load.problems, [])
        self.assertEqual(load.counters[asker.name, "file"].seen, [1, 2])
        self.assertEqual(load.executions, {"execution-1"})
        self.one(asker, {"status": "ok", "result": {"file": 3, "state": 3, "found": "l", "left": "n"}})
        self.assertIn("large file", load.problems[0])

    def test_what_was_not_shared_counts_as_unheard_and_is_right_only_while_something_is_away(self):
        for is_away, problems in ((True, 0), (False, 1)):
            load, asker = self.asker("counting", is_away)
            askers.AWAY_SECONDS, before = 0, askers.AWAY_SECONDS
            self.one(asker, self.failed(askers.NOT_SHARED))
            askers.AWAY_SECONDS = before
            self.assertEqual(len(load.problems), problems)
            self.assertEqual(load.counters[asker.name, "state"].seen, [None])
            self.assertIsNone(asker.left)
            self.assertEqual(load.executions, set())

    def test_a_booking_that_failed_says_whether_it_was_named(self):
        for called, fate in (([], verdict.NOT_NAMED), (["desk.book"], verdict.NAMED)):
            load, asker = self.asker("booking", is_away=True)
            self.one(asker, {**self.failed("GM-1104", askers.CALL_NOT_SENT), "tools_called": called})
            self.assertEqual((load.problems, list(load.bookings.values())), ([], [fate]))

    def test_a_refusal_is_right_only_while_something_is_away(self):
        for is_away, problems in ((True, 0), (False, 1)):
            load, asker = self.asker("computing", is_away)
            self.one(asker, self.failed(askers.BUSY))
            self.assertEqual((len(load.problems), load.executions), (problems, set()))

    def test_what_was_stored_is_kept_under_its_handle(self):
        load, asker = self.asker("storing")
        asker.tasks.chance.random = lambda: 0.9
        self.one(asker, {"status": "ok", "result_handle": "h"})
        self.assertEqual(list(asker.kept), ["h.json"])
        asker.tasks.chance.random = lambda: 0.1
        self.one(asker, {"status": "ok", "result": {}})
        self.assertEqual(load.problems, [])
        self.one(asker, {"status": "ok", "result": {"h.json": "gone"}})
        self.assertEqual(len(load.problems), 1)

    def test_a_careful_caller_keeps_away_from_what_is_silent(self):
        load, careful = self.asker("computing")
        load.gateways[0].is_silent = True
        askers.AWAY_SECONDS, before = 0, askers.AWAY_SECONDS
        careful.one()
        askers.AWAY_SECONDS = before
        self.assertEqual((careful.is_careful, load.answers), (True, []))


class Near(unittest.TestCase):
    """Who is asked while a gateway is cut off."""

    def there(self, network):
        load = askers.Load(World(is_away=True, network=network), 1)
        load.gateways += [FakeGateway("gateway-1"), FakeGateway("gateway-2")]
        load.gateways[1].is_silent = True
        careful, near, other = ([one.name for one in asker.there()] for asker in load.askers[:3])
        return careful, near, other

    def test_a_near_caller_asks_the_one_that_is_cut_off(self):
        both = ["gateway-1", "gateway-2"]
        self.assertEqual(self.there("a network"), (["gateway-1"], ["gateway-2"], both))

    def test_without_networks_nobody_is_near(self):
        both = ["gateway-1", "gateway-2"]
        self.assertEqual(self.there(None), (["gateway-1"], both, both))


class Copying(unittest.TestCase):
    def test_a_result_that_does_not_come_is_told(self):
        gateway = sharing.SharingGateway.__new__(sharing.SharingGateway)
        gateway.name, sharing.COPIED_SECONDS_MAX, before = "gateway-2", 0, sharing.COPIED_SECONDS_MAX
        with tempfile.TemporaryDirectory() as folder:
            gateway.data = Path(folder)
            (gateway.data / "results" / "owner").mkdir(parents=True)
            (gateway.data / "results" / "owner" / "h.json").touch()
            found = gateway.uncopied(["h.json"]), gateway.uncopied(["h.json", "i.json"])
        sharing.COPIED_SECONDS_MAX = before
        self.assertEqual(found, ([], ["the copy of gateway-2 lacks i.json after 0 s"]))


class Tasks(unittest.TestCase):
    def test_every_kind_makes_tasks_of_its_name(self):
        made = tasks.Tasks(random.Random(1))
        for kind in tasks.KINDS:
            for _ in range(20):
                task = getattr(made, kind)({"h.json": "d"} if kind == "storing" else 7)
                self.assertEqual(task.kind, kind)
                compile(task.code, kind, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


class Drawing(unittest.TestCase):
    def test_a_dozen_has_all_kinds(self):
        for shares in (mishaps.SHARES, mishaps.PARTITION_SHARES):
            dozen = drawn(12, random.Random(5), shares)
            self.assertEqual({name: dozen.count(name) for name in shares}, shares)
        self.assertEqual(set(mishaps.HAPPEN), {*mishaps.SHARES, *mishaps.PARTITION_SHARES})


class Users(unittest.TestCase):
    def test_only_a_gateway_that_shares_its_state_may_use_the_log(self):
        alone = nats_bus.user("gateway-1", "UX", ["gateway-1"], [])
        shares = nats_bus.user("gateway-1", "UX", ["gateway-1"], [], shares_state=True)
        for subject in ('"gm.test.state.log"', '"gm.test.r.*.l.gateway-1.*"', '"$JS.API.STREAM.INFO.GM_TEST_BLOBS"'):
            self.assertNotIn(subject, alone)
            self.assertIn(subject, shares)
        self.assertIn('"gm.test.r.gateway-1.>", "_INBOX.>"]', shares)


if __name__ == "__main__":
    unittest.main()
