import threading
import time

seen = []
guard = threading.Timer(60, seen.append, ["too late"])
guard.start()
first = threading.Timer(0.05, seen.append, ["first"])
first.start()
second = threading.Timer(0.15, seen.append, ["second"])
second.start()
seen.append("begun")
time.sleep(0.1)
seen.append("slept")
second.join()
guard.cancel()

done = threading.Event()
threading.Timer(0.01, done.set).start()
seen.append(done.wait(5))
seen
