# attack: arguments nested beyond any parser
# expect: error | crash
# forbid: PWNED
# timeout_ms: 4000
deep = []
for _ in range(200_000):
    deep = [deep]
await callMCPTool("echo", {"value": deep})
print("PW" + "NED: sent")
