"""The tools that the programs in this folder call, as Python.

The Rust tests serve the same tools over MCP with the same formulae; change both or neither.
"""

import asyncio
from datetime import date, timedelta

TOTAL_ORDERS = 1200
TOTAL_CUSTOMERS = 97
STATUSES = ["paid", "paid", "failed", "refunded", "pending"]
CITIES = ["Lyon", "Porto", "Ghent", "Turin", "Graz", "Leeds", "Bergen"]
TIERS = ["bronze", "silver", "gold"]
COUNTRIES = ["FR", "PT", "BE", "IT", "AT", "GB", "NO"]


class ToolError(Exception):
    """What a program sees when a tool answers with isError."""


def order(n):
    day = date(2026, 1, 1) + timedelta(days=n % 300)
    return {
        "id": f"ORD-{n:05d}",
        "customer_id": f"C{(n * 7919) % 97:03d}",
        "amount_cents": (n * 104729) % 50000 + 500,
        "currency": "EUR" if n % 3 else "USD",
        "status": STATUSES[(n * 31 + n // 7) % 5],
        "created_at": f"{day.isoformat()}T{n % 24:02d}:{n % 60:02d}:00Z",
        "items": [
            {
                "sku": f"SKU-{(n * 13 + k * 17) % 211:03d}",
                "quantity": (n + k) % 4 + 1,
                "unit_cents": (n * 37 + k * 101) % 9000 + 100,
            }
            for k in range(n % 3 + 1)
        ],
        "shipping_address": {
            "street": f"{n % 180 + 1} Mill Lane",
            "city": CITIES[n % 7],
            "postcode": f"{10000 + (n * 71) % 89999}",
        },
        "notes": "" if n % 11 else "customer asked for a call before delivery",
    }


async def echo(value):
    return {"value": value}


async def sleep(ms):
    await asyncio.sleep(ms / 1000)
    return {"slept_ms": ms}


async def fail(message):
    raise ToolError(message)


async def list_orders(page=1, page_size=100):
    page_size = min(page_size, 200)
    first = (page - 1) * page_size + 1
    last = min(page * page_size, TOTAL_ORDERS)
    return {
        "orders": [order(n) for n in range(first, last + 1)],
        "page": page,
        "next_page": page + 1 if last < TOTAL_ORDERS else None,
        "total": TOTAL_ORDERS,
    }


async def get_customer(customer_id):
    digits = customer_id[1:]
    known = customer_id[:1] == "C" and len(digits) == 3 and digits.isdigit() and int(digits) < TOTAL_CUSTOMERS
    if not known:
        raise ToolError(f"no customer {customer_id!r}")
    k = int(digits)
    return {
        "id": customer_id,
        "name": f"Customer {k}",
        "email": f"customer{k}@example.com",
        "tier": TIERS[k % 3],
        "country": COUNTRIES[k % 7],
    }


SERVERS = {
    "test": {"echo": echo, "sleep": sleep, "fail": fail},
    "shop": {"list_orders": list_orders, "get_customer": get_customer},
}


async def call_mcp_tool(name, arguments=None, /, **keywords):
    server, _, tool = name.rpartition(".")
    for server_name, tools in SERVERS.items():
        if server in ("", server_name) and tool in tools:
            return await tools[tool](**(arguments or {}), **keywords)
    raise ToolError(f"no tool {name!r}")
