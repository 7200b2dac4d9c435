import queue
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

lock = threading.Lock()
totals = {}


def work(name, numbers):
    with lock:
        totals[name] = sum(numbers)


threads = [threading.Thread(target=work, args=(f"t{n}", range(n))) for n in (10, 100, 1000)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

jobs, done = queue.Queue(), []
for number in range(5):
    jobs.put(number)


def worker():
    while True:
        try:
            number = jobs.get_nowait()
        except queue.Empty:
            return
        done.append(number**2)
        jobs.task_done()


pair = [threading.Thread(target=worker, daemon=True) for _ in range(2)]
for thread in pair:
    thread.start()
jobs.join()

with ThreadPoolExecutor(max_workers=4) as pool:
    futures = [pool.submit(pow, 2, n) for n in range(5)]
    powers = sorted(future.result() for future in as_completed(futures))

result = {"totals": totals, "done": sorted(done), "powers": powers, "alive": any(t.is_alive() for t in threads)}
