import queue
import threading
import unittest
from unittest import mock

from gristmill_guest import locks
from tests.fake_host import run


class WaitingForEver(unittest.TestCase):
    def setUp(self):
        for module, name in ((threading, "Lock"), (threading, "_allocate_lock"), (queue, "SimpleQueue")):
            patch = mock.patch.object(module, name, getattr(module, name))
            patch.start()
            self.addCleanup(patch.stop)
        locks.install()

    def test_is_an_error_with_its_line(self):
        for code in (
            "queue.Queue().get()",
            "queue.SimpleQueue().get()",
            "threading.Event().wait()",
            "l = threading.Lock(); l.acquire(); l.acquire()",
            "c = threading.Condition(); c.acquire(); c.wait()",
            "threading.Semaphore(0).acquire()",
            "threading.Barrier(2).wait()",
            "q = queue.Queue(); q.put(1); q.join()",
            "q = queue.Queue(1); q.put(1); q.put(2)",
        ):
            with self.subTest(code=code):
                outcome = run("import queue, threading\n\n" + code)
                error = outcome["error"]
                self.assertEqual((error["type"], error["message"], error["line"]), ("RuntimeError", locks.NEVER, 3))

    def test_what_need_not_wait_works(self):
        code = """
import queue, threading
q = queue.Queue()
q.put(1)
out = [q.get()]
q.task_done()
q.join()
for attempt in (lambda: q.get(timeout=0.01), lambda: q.get_nowait()):
    try:
        attempt()
    except queue.Empty:
        out.append("empty")
lock = threading.Lock()
with lock:
    out += [lock.locked(), lock.acquire(False), lock.acquire(timeout=0.01)]
event = threading.Event()
out.append(event.wait(0.01))
event.set()
out += [event.wait(), lock.locked()]
with threading.RLock() as outer, threading.Condition():
    out.append(outer)
out
"""
        self.assertEqual(
            run(code)["result"], [1, "empty", "empty", True, False, False, False, True, False, True]
        )


if __name__ == "__main__":
    unittest.main()
