import csv
from servers.database import export_rows

tickets = (await export_rows(table="tickets", limit=10_000))["rows"]

# The engine filters, groups and sorts; the program only says what it wants.
result = await analyze(
    tickets,
    [
        {"filter": {"field": "status", "operator": "==", "value": "open"}},
        {"aggregate": {"group_by": "priority", "aggregations": {"number": "count", "opened_on": "min"}}},
        {"sort": "priority"},
    ],
)

# For whoever goes on from here.
columns = ["number", "priority", "opened_on"]
with open("open.csv", "w", newline="") as file:
    table = csv.DictWriter(file, columns, extrasaction="ignore")
    table.writeheader()
    table.writerows(ticket for ticket in tickets if ticket["status"] == "open")
