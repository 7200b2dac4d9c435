import re
from servers.crm import search_records, update_record
from servers.database import export_rows
from servers.documents import get_document

# The transcript goes from one server into a record of another; no model has to read it on the way.
transcript = await get_document(document_id="DOC-0107")
text = transcript["text"]
await update_record(type="meeting", id="MTG-0042", fields={"notes": text, "status": "held"})
decisions = len(re.findall(r"Decision \d+:", text))
actions = len(re.findall(r"Action item \d+:", text))

# Which customers were spoken about?
accounts, page = [], 1
while page:
    answer = await search_records(type="account", page=page, page_size=300)
    accounts += answer["records"]
    page = answer["next_page"]
named = {account["id"]: account["name"] for account in accounts if account["name"] in text}

# All tickets, down to the few that matter to them now.
tickets = (await export_rows(table="tickets", limit=10000))["rows"]
urgent = [
    ticket for ticket in tickets
    if ticket["account_id"] in named and ticket["status"] == "open" and ticket["priority"] in ("high", "urgent")
]
for ticket in urgent:
    print(f"{ticket['number']}  {ticket['priority']:<6}  {named[ticket['account_id']]}: {ticket['subject']}")

result = (
    f"MTG-0042 now holds the transcript: {transcript['words']:,} words, {decisions} decisions, {actions} action items.\n"
    f"{len(named)} customers were named; {len(urgent)} of {len(tickets):,} tickets are open and pressing for them: "
    + ", ".join(ticket["number"] for ticket in urgent) + "."
)
