# attack: a format width of a billion characters
# expect: limit:memory | error
# forbid: PWNED
# memory_mb: 128
text = f"{1:>{10**9}}"
print("PW" + "NED:", len(text))
