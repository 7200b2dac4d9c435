class ImportFailed(Exception):
    def __init__(self, step, reason):
        super().__init__(f"{step}: {reason}")
        self.step = step


async def import_customer(customer_id):
    try:
        return await callMCPTool("get_customer", {"customer_id": customer_id})
    except ToolError as error:
        raise ImportFailed("customer", customer_id) from error


try:
    await import_customer("C999")
except ImportFailed as failure:
    print("failed:", failure)
    print("step:", failure.step)
    print("cause:", type(failure.__cause__).__name__, "-", failure.__cause__)
