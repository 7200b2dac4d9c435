from bisect import bisect, bisect_left, insort


def grade(score, breaks=(60, 70, 80, 90), grades="FDCBA"):
    return grades[bisect(breaks, score)]


scores = {"Ann": 93, "Bob": 60, "Cat": 59, "Dan": 79, "Eve": 80}
for name, score in scores.items():
    print(f"{name}: {score} -> {grade(score)}")
ordered = []
for score in scores.values():
    insort(ordered, score)
print(ordered, bisect_left(ordered, 79), bisect_left(ordered, 81))


def merge(ranges):
    merged = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


print(merge([(5, 8), (1, 3), (2, 4), (9, 10), (8, 9)]))
