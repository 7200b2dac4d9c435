from collections import Counter
from servers.database import export_rows

rows = (await export_rows(table="tickets", limit=10000))["rows"]
pressing = [row for row in rows if row["status"] == "open" and row["priority"] in ("high", "urgent")]
counts = Counter(row["account_id"] for row in pressing)
top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
result = {"tickets": len(rows), "pressing": len(pressing), "most": [list(one) for one in top]}
