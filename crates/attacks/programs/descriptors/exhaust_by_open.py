# attack: open files until there are no descriptors left
# expect: ok | error | limit:open_files
# forbid: PWNED
# timeout_ms: 5000
keep = []
try:
    for n in range(20_000):
        keep.append(open("same.txt", "a"))
except OSError as error:
    print("refused after some", type(error).__name__)
count = len(keep)
for f in keep:
    f.close()
if count >= 20_000:
    print("PW" + "NED:", count)
print("can still open:", open("same.txt").read() == "")
