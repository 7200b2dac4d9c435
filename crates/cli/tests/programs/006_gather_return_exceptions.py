calls = [
    callMCPTool("echo", {"value": 1}),
    callMCPTool("fail", {"message": "second is broken"}),
    callMCPTool("echo", {"value": [3, {"three": 3}]}),
    callMCPTool("fail", {"message": "fourth too"}),
]
answers = await asyncio.gather(*calls, return_exceptions=True)
ok = [a["value"] for a in answers if not isinstance(a, Exception)]
errors = [str(a) for a in answers if isinstance(a, ToolError)]
{"ok": ok, "errors": errors}
