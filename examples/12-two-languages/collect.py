import csv
from servers.filesystem import read_file as read_remote

answer = await read_remote(path="data/sales.csv")
rows = list(csv.DictReader(answer["text"].splitlines()))
write_file("sales.json", json.dumps(rows))
state["programs"] = ["collect.py"]
result = f"{len(rows)} rows are in sales.json now"
