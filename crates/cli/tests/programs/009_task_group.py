async def load(customer_id):
    return await callMCPTool("get_customer", {"customer_id": customer_id})


async with asyncio.TaskGroup() as group:
    tasks = {cid: group.create_task(load(cid)) for cid in ("C003", "C010", "C042")}

for cid, task in tasks.items():
    customer = task.result()
    print(cid, customer["name"], customer["email"], sep=" | ")
