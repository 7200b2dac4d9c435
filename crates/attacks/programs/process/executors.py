# attack: pools of threads, processes and interpreters
# expect: ok | limit:wall_time
# forbid: PWNED
# timeout_ms: 3000
def task():
    return 1


ways = {
    "threads": lambda: __import__("concurrent.futures").futures.ThreadPoolExecutor(4).submit(task).result(1),
    "processes": lambda: __import__("concurrent.futures").futures.ProcessPoolExecutor(2).submit(task).result(1),
    "multiprocessing": lambda: __import__("multiprocessing").Process(target=task).start(),
    "interpreters": lambda: __import__("concurrent.interpreters").interpreters.create().exec("x = 1"),
}
for name, way in ways.items():
    try:
        print(name, way())
    except BaseException as error:
        print(name, type(error).__name__)
try:
    print(await asyncio.wait_for(asyncio.to_thread(task), 1))
except Exception as error:
    print(type(error).__name__)
