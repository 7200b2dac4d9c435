from collections import Counter
from servers.airtable import list_records

records = (await list_records(baseId="appShopRecords001", tableId="tblTickets0000001", fields=["Account", "Priority", "Hours"]))["records"]
tickets, hours, accounts = Counter(), Counter(), Counter()
for row in (record["fields"] for record in records):
    tickets[row["Priority"]] += 1
    hours[row["Priority"]] += row["Hours"]
    accounts[row["Account"]] += 1
top = sorted(accounts.items(), key=lambda item: (-item[1], item[0]))[:3]
result = {"tickets": len(records), "priorities": {name: [tickets[name], hours[name]] for name in sorted(tickets)}, "most": top}
