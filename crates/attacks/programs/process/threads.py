# attack: threads that go on when the program has ended
# expect: ok | limit:wall_time
# forbid: PWNED
# timeout_ms: 1500
import threading
import time

end = time.monotonic() + 10


def work():
    while time.monotonic() < end:
        pass


for _ in range(50):
    try:
        threading.Thread(target=work, daemon=False).start()
    except RuntimeError as error:
        print("refused")
        break
else:
    print("PW" + "NED: 50 threads")
for way in (lambda: __import__("_thread").start_new_thread(work, ()), lambda: threading.Timer(0.01, work).start()):
    try:
        way()
        print("PW" + "NED: a thread")
    except Exception as error:
        print(type(error).__name__)
