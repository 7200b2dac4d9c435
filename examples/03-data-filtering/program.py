from collections import Counter
from servers.database import export_rows

tickets = (await export_rows(table="tickets", limit=10_000))["rows"]
urgent = [ticket for ticket in tickets if ticket["status"] == "open" and ticket["priority"] == "urgent"]
characters = len(json.dumps(tickets))
print(f"{len(tickets):,} tickets read ({characters:,} characters), {len(urgent)} are open and urgent")

subjects = Counter(ticket["subject"] for ticket in urgent)
oldest = min(urgent, key=lambda ticket: ticket["opened_on"])
result = {
    "subjects": dict(subjects.most_common(3)),
    "waits_longest": [oldest["number"], oldest["opened_on"], oldest["subject"]],
}
