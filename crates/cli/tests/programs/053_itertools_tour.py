from itertools import accumulate, chain, combinations, compress, count, cycle, islice, permutations, product, starmap, takewhile, zip_longest

print(list(islice(count(10, 5), 4)))
print(list(accumulate([3, 1, 4, 1, 5], max)))
print(["".join(p) for p in permutations("abc", 2)])
print(list(combinations(range(4), 2)))
print([a + b for a, b in product("xy", repeat=2)])
print(list(zip_longest("ab", [1, 2, 3], fillvalue="-")))
print(list(takewhile(lambda n: n < 20, (n * n for n in count()))))
print(list(compress("ABCDEF", cycle([1, 0]))))
print(list(starmap(pow, [(2, 5), (3, 2)])), list(chain.from_iterable([[1], [2, 3]])))
