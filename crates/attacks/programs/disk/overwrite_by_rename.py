# attack: write, rename over the last one, and write again, to confuse the count
# expect: ok
# forbid: PWNED
# timeout_ms: 8000
import os

for n in range(200):
    with open("next.bin", "wb") as f:
        f.write(bytes([n]) * 200_000)
    os.replace("next.bin", "kept.bin")
print(os.listdir("."), os.path.getsize("kept.bin"))
