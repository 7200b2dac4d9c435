import asyncio
from servers.crm import add_note, list_activities, search_records
from servers.database import query
from servers.documents import get_document, search_documents

account = (await search_records(type="account", query="Kestrel Foods"))["records"][0]
activities, tickets, found = await asyncio.gather(
    list_activities(record_id=account["id"]),
    query(sql="SELECT priority, count(*) AS n FROM tickets WHERE account_id = ? AND status = 'open' GROUP BY priority ORDER BY priority", params=[account["id"]]),
    search_documents(query=account["name"], limit=3),
)
document = await get_document(document_id=found["hits"][0]["document_id"])
note = f"Brief: {sum(row['n'] for row in tickets['rows'])} open tickets; read {document['title']}."
await add_note(record_id=account["id"], text=note)
result = {"account": account["id"], "last_call": activities["activities"][0]["at"], "note": note}
