import os

with open("big.log", "w", encoding="utf-8") as f:
    for n in range(20_000):
        f.write(f"{n:06d} {'ERROR' if n % 997 == 0 else 'INFO'} worker-{n % 8} message é{n}\n")

errors = {}
with open("big.log", encoding="utf-8") as f:
    for number, line in enumerate(f, 1):
        stamp, level, worker, *_ = line.split()
        if level == "ERROR":
            errors.setdefault(worker, []).append(number)

with open("big.log", "rb") as f:
    f.seek(-32, os.SEEK_END)
    tail = f.read().decode("utf-8", "ignore").splitlines()[-1]

print({worker: len(numbers) for worker, numbers in sorted(errors.items())})
print(tail)
print(os.path.getsize("big.log"), sorted(os.listdir(".")))
os.rename("big.log", "old.log")
os.remove("old.log")
print(os.path.exists("big.log"), os.listdir("."))
