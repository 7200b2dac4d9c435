import heapq

sold = {}
for p in range(1, 7):
    page = await callMCPTool("list_orders", {"page": p, "page_size": 200})
    for order in page["orders"]:
        if order["status"] in ("paid", "pending"):
            for item in order["items"]:
                sold[item["sku"]] = sold.get(item["sku"], 0) + item["quantity"]

best = heapq.nlargest(5, sold.items(), key=lambda kv: (kv[1], kv[0]))
worst = heapq.nsmallest(3, sold.items(), key=lambda kv: (kv[1], kv[0]))
result = {"best": best, "worst": worst, "distinct": len(sold)}
