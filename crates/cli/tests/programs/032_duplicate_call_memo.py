pending = {}


def once(tool, **arguments):
    key = (tool, json.dumps(arguments, sort_keys=True))
    if key not in pending:
        pending[key] = asyncio.ensure_future(callMCPTool(tool, arguments))
    return pending[key]


ids = ["C004", "C009", "C004", "C004", "C009", "C011"]
customers = await asyncio.gather(*(once("get_customer", customer_id=i) for i in ids))
print([c["name"] for c in customers])
print("calls made:", len(pending))
