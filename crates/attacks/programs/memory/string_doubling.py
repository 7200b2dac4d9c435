# attack: double a string until it is larger than the limit
# expect: limit:memory
# forbid: PWNED
# memory_mb: 128
# timeout_ms: 5000
text = "grist" * 1000
while len(text) < 1 << 30:
    text += text
print("PW" + "NED:", len(text))
