# attack: tool names that could reach another tool, server or file
# expect: ok
# forbid: PWNED
# forbid: CANARY-7f3a
names = [
    "", ".", "..", "test.", ".echo", "test..echo", "test/echo", "test.echo.x", "../test/echo", "TEST.ECHO\n", "echo\0", "echo ", "shop.echo", "test.list_orders", "@@CANARY@@",
    "execute_code", "gristmill.execute_code", "__class__", "constructor", "*", "%s", "test.fail\";", "e" * 1_000_000, None, 5, b"echo", ["echo"],
]
for name in names:
    try:
        answer = await callMCPTool(name, {"value": "reached", "code": "print(1)"})
        print(ascii(name)[:40], str(answer)[:80])
        if name in ("execute_code", "gristmill.execute_code"):
            print("PW" + "NED: the gateway called itself")
    except Exception as error:
        print(ascii(name)[:40], type(error).__name__)
