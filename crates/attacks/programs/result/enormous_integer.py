# attack: an integer of a hundred thousand digits
# expect: ok | error | limit:result_bytes
# forbid: PWNED
result = {"n": 10**100_000, "negative": -(10**5000), "exact": 2**63, "more": 2**64 + 1}
