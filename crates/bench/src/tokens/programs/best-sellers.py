from collections import Counter
from servers.airtable import list_records

records = (await list_records(baseId="appShopRecords001", tableId="tblOrderLines0001", fields=["Product", "Quantity"]))["records"]
units = Counter()
for record in records:
    units[record["fields"]["Product"]] += record["fields"]["Quantity"]
top = sorted(units.items(), key=lambda item: (-item[1], item[0]))[:3]
result = {"lines": len(records), "most": top}
