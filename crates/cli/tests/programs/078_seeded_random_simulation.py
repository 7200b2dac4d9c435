import random

rng = random.Random(42)
rolls = [rng.randint(1, 6) + rng.randint(1, 6) for _ in range(2000)]
histogram = {total: rolls.count(total) for total in range(2, 13)}
for total, n in histogram.items():
    print(f"{total:>2} {'▇' * (n // 20)} {n}")
deck = [f"{rank}{suit}" for suit in "♠♥" for rank in "A23"]
rng.shuffle(deck)
print(" ".join(deck), rng.sample(range(100), 3), round(rng.random(), 6))
