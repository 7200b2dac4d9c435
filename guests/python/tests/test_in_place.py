"""Threads, timers, pools and processes, which run in place. On copies of the modules: the tests keep their threads."""

import importlib
import sys
import time

from gristmill_guest import locks, processes_in_place, threads_in_place, timers
from tests.test_program import World

COPIED = ("threading", "queue", "multiprocessing", "concurrent.futures")


class InPlace(World):
    def setUp(self):
        super().setUp()
        before = dict(sys.modules)
        self.addCleanup(lambda: (sys.modules.clear(), sys.modules.update(before)))
        for name in [name for name in sys.modules if name.startswith(COPIED)]:
            del sys.modules[name]
        threading = importlib.import_module("threading")
        threads_in_place.install(threading)
        threading._allocate_lock = locks.Lock
        self._keep_still()
        context = importlib.import_module("multiprocessing.context")
        # The module took the context's methods when it was imported: in the image the hook comes before.
        processes_in_place.install(context)
        importlib.reload(sys.modules["multiprocessing"])
        processes_in_place.install_pool(importlib.import_module("multiprocessing.pool"))
        threads_in_place.install_pool(importlib.import_module("concurrent.futures.thread"))
        processes_in_place.install_executor(importlib.import_module("concurrent.futures.process"))

    def _keep_still(self):
        """A clock that only waiting moves."""
        self.slept = []

        def sleep(seconds):
            self.slept.append(round(seconds, 3))

        def monotonic():
            return sum(self.slept)

        for module, name, value in (
            (timers, "_sleep", sleep),
            (timers, "_monotonic", monotonic),
            (locks, "_sleep", sleep),
            (locks, "_monotonic", monotonic),
            (time, "sleep", timers.sleep),
        ):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)

    def result(self, code, notes=()):
        outcome = self.run_program(code)
        self.assertTrue(outcome["ok"], outcome)
        self.assertEqual(outcome["notes"], list(notes))
        return outcome["result"]


class Threads(InPlace):
    def test_a_thread_runs_when_it_is_started(self):
        code = """
        import threading
        seen = []
        def work(n):
            seen.append((n, threading.current_thread().name))
        threads = [threading.Thread(target=work, args=(n,), name=f"t{n}") for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        result = [seen, threads[0].is_alive(), threading.current_thread() is threading.main_thread()]
        """
        seen = [[0, "t0"], [1, "t1"], [2, "t2"]]
        self.assertEqual(self.result(code, [threads_in_place.THREADS_NOTE]), [seen, False, True])

    def test_a_subclass_runs_its_own_run(self):
        code = """
        from threading import Thread
        class Worker(Thread):
            def run(self):
                self.answer = 42
        worker = Worker()
        worker.start()
        worker.join()
        worker.answer
        """
        self.assertEqual(self.result(code, [threads_in_place.THREADS_NOTE]), 42)

    def test_a_failure_in_a_thread_is_noted_with_its_line(self):
        code = "import threading\ndef f():\n    1 / 0\nt = threading.Thread(target=f, name='t')\nt.start()\n'on'"
        notes = [threads_in_place.THREADS_NOTE, "thread t failed on line 3: ZeroDivisionError: division by zero"]
        self.assertEqual(self.result(code, notes), "on")

    def test_a_hook_for_failures_is_called(self):
        code = """
        import threading
        told = []
        threading.excepthook = lambda args: told.append((args.exc_type.__name__, args.thread.name))
        threading.Thread(target=lambda: [][1], name="t").start()
        told
        """
        self.assertEqual(self.result(code, [threads_in_place.THREADS_NOTE]), [["IndexError", "t"]])

    def test_a_thread_starts_once_and_is_joined_after_that(self):
        for code, said in (
            ("t.start()\nt.start()", "threads can only be started once"),
            ("t.join()", "cannot join thread before it is started"),
        ):
            error = self.error(f"import threading\nt = threading.Thread(target=print)\n{code}")
            self.assertEqual(error["message"], said)

    def test_a_queue_between_threads_works_in_order(self):
        code = """
        import threading, queue
        jobs, done = queue.Queue(), []
        for n in range(3):
            jobs.put(n)
        def worker():
            while not jobs.empty():
                done.append(jobs.get() * 10)
                jobs.task_done()
        threading.Thread(target=worker, daemon=True).start()
        jobs.join()
        done
        """
        self.assertEqual(self.result(code, [threads_in_place.THREADS_NOTE]), [0, 10, 20])


class Timers(InPlace):
    def test_timers_run_at_the_end_in_order_of_time(self):
        code = """
        import threading
        result = []
        threading.Timer(0.2, result.append, ["second"]).start()
        threading.Timer(0.1, result.append, ["first"]).start()
        result.append("begun")
        """
        self.assertEqual(self.result(code), ["begun", "first", "second"])
        self.assertEqual(self.slept, [0.1, 0.1])

    def test_a_cancelled_timer_costs_nothing(self):
        code = "import threading\nt = threading.Timer(30, print)\nt.start()\nt.cancel()\n[t.is_alive()]"
        self.assertEqual(self.result(code), [False])
        self.assertEqual(self.slept, [])

    def test_timers_run_while_the_program_waits(self):
        for waiting, slept in (
            ("import time\ntime.sleep(1)", [0.5, 0.5]),
            ("timer.join()", [0.5]),
            ("threading.Event().wait(1)", [0.5, 0.5]),
            ("event.wait()", [0.5]),
        ):
            with self.subTest(waiting=waiting):
                self.slept.clear()
                code = f"""
import threading
event = threading.Event()
timer = threading.Timer(0.5, event.set)
timer.start()
{waiting}
event.is_set()
"""
                self.assertEqual((self.result(code), self.slept), (True, slept))

    def test_a_daemon_ends_with_the_program(self):
        code = "import threading\nt = threading.Timer(9, print)\nt.daemon = True\nt.start()\n1"
        self.assertEqual((self.result(code), self.slept), (1, []))


class Processes(InPlace):
    def test_pools_do_the_work_in_order(self):
        for code, expected in (
            ("from multiprocessing import Pool\nwith Pool(4) as p:\n    result = p.map(abs, [-1, -2])", [1, 2]),
            ("import multiprocessing\nmultiprocessing.Pool().starmap(pow, [(2, 3), (3, 2)])", [8, 9]),
            ("import multiprocessing as mp\nlist(mp.Pool(2).imap_unordered(abs, [-3, -1]))", [3, 1]),
            ("import multiprocessing as mp\nmp.Pool(2).apply_async(pow, (2, 4)).get(timeout=5)", 16),
            ("import multiprocessing as mp\nmp.get_context('spawn').Pool(2).map(abs, [-3])", [3]),
            ("from multiprocessing.pool import ThreadPool\nThreadPool(2).map(abs, [-4])", [4]),
            ("from multiprocessing.dummy import Pool\nPool(2).map(abs, [-5])", [5]),
            (
                "from concurrent.futures import ProcessPoolExecutor\n"
                "with ProcessPoolExecutor() as e:\n    result = [*e.map(abs, [-6]), e.submit(abs, -7).result()]",
                [6, 7],
            ),
        ):
            with self.subTest(code=code):
                self.assertEqual(self.result(code, [threads_in_place.PROCESSES_NOTE]), expected)

    def test_a_failure_in_a_pool_is_raised_where_its_result_is_asked_for(self):
        code = """
        import multiprocessing
        failed = multiprocessing.Pool(2).apply_async(divmod, (1, 0))
        try:
            failed.get()
        except ZeroDivisionError:
            result = failed.successful()
        """
        self.assertEqual(self.result(code, [threads_in_place.PROCESSES_NOTE]), False)

    def test_a_process_runs_when_it_is_started(self):
        code = """
        import multiprocessing as mp
        def child(queue, pipe, total, shared):
            queue.put(1)
            pipe.send("x")
            with total.get_lock():
                total.value += 5
            shared["a"] = mp.Array("i", 2)[:]
        queue, (here, there), total, shared = mp.Queue(), mp.Pipe(), mp.Value("i", 0), mp.Manager().dict()
        process = mp.Process(target=child, args=(queue, there, total, shared))
        process.start()
        process.join()
        [queue.get(), here.recv(), total.value, shared, process.exitcode, process.is_alive()]
        """
        expected = [1, "x", 5, {"a": [0, 0]}, 0, False]
        self.assertEqual(self.result(code, [threads_in_place.PROCESSES_NOTE]), expected)

    def test_a_process_that_fails_has_an_exit_code_and_a_note(self):
        code = "import multiprocessing as mp\np = mp.Process(target=lambda: 1 / 0, name='p')\np.start()\np.exitcode"
        outcome = self.run_program(code)
        self.assertEqual(outcome["result"], 1)
        self.assertRegex(outcome["notes"][1], "process p failed on line 2: ZeroDivisionError: .*")


del World
