# attack: start a program through the event loop
# expect: ok
# forbid: PWNED
# forbid: CANARY-7f3a
for start in (lambda: asyncio.create_subprocess_exec("cat", "@@CANARY@@"), lambda: asyncio.create_subprocess_shell("cat @@CANARY@@")):
    try:
        process = await asyncio.wait_for(start(), 1)
        print("PW" + "NED:", await process.wait())
    except Exception as error:
        print(type(error).__name__)
