import csv
from servers.filesystem import read_file as read_remote

answer = await read_remote(path="data/sales.csv")
rows = list(csv.DictReader(answer["text"].splitlines()))

# A file for what is large, `state` for what is small. Both stay with the session.
write_file("sales.json", json.dumps(rows))
state["rows"] = len(rows)
state["runs"] = ["collect"]
result = f"{len(rows)} rows are in sales.json now"
