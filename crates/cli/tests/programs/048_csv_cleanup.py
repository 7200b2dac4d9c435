import csv
import io

RAW = 'id;name;"joined on";score\n1;" Ann ";2026-01-05;7,5\n2;"O\'Neil; Bob";;8\n3;"quote ""x""";2026-02-30;\n'
rows = []
for row in csv.DictReader(io.StringIO(RAW), delimiter=";"):
    rows.append(
        {
            "id": int(row["id"]),
            "name": row["name"].strip(),
            "joined": row["joined on"] or None,
            "score": float(row["score"].replace(",", ".")) if row["score"] else None,
        }
    )
out = io.StringIO()
writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
writer.writerow(rows[0])
writer.writerows(r.values() for r in rows)
print(out.getvalue(), end="")
result = rows
