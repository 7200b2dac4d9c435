ids = ["C001", "C096", "C097", "bogus", "C050"]
found, missing = [], []
for customer_id in ids:
    try:
        customer = await callMCPTool("get_customer", {"customer_id": customer_id})
    except ToolError as error:
        missing.append(customer_id)
        print(f"skipped {customer_id}: {error}")
    else:
        found.append(customer["name"])

result = {"found": found, "missing": missing}
