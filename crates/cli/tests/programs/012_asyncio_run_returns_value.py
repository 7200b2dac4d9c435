import asyncio


async def main():
    page = await call_mcp_tool("list_orders", {"page": 12, "page_size": 100})
    return {"page": page["page"], "more": page["next_page"], "last": page["orders"][-1]["id"]}


asyncio.run(main())
