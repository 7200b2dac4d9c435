import asyncio
from servers.crm import add_note, list_activities, search_records
from servers.database import query
from servers.documents import search_documents

account = (await search_records(type="account", query="Kestrel Foods"))["records"][0]
activities, tickets, found = await asyncio.gather(
    list_activities(record_id=account["id"]),
    query(sql="SELECT priority, count(*) AS n FROM tickets WHERE account_id = ? AND status = 'open' GROUP BY priority ORDER BY priority", params=[account["id"]]),
    search_documents(query=account["name"], limit=1),
)
calls = [one["at"] for one in activities["activities"] if one["kind"] == "call"]
open_tickets = {row["priority"]: row["n"] for row in tickets["rows"]}
document = found["hits"][0]["title"]
await add_note(record_id=account["id"], text=f"Brief: {sum(open_tickets.values())} open tickets; read {document}.")
result = {"account": account, "last_call": max(calls, default=None), "open_tickets": open_tickets, "document": document}
