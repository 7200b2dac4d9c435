from collections import Counter
from servers.airtable import list_records

records = (await list_records(baseId="appShopRecords001", tableId="tblOrders00000001", fields=["Currency", "Cents"]))["records"]
count, cents = Counter(), Counter()
for row in (record["fields"] for record in records):
    count[row["Currency"]] += 1
    cents[row["Currency"]] += row["Cents"]
result = {currency: [count[currency], cents[currency]] for currency in sorted(count)}
