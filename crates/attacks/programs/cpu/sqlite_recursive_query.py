# attack: an endless recursive query inside SQLite
# expect: limit:wall_time | limit:cpu_time
# forbid: PWNED
# timeout_ms: 700
import sqlite3

query = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT COUNT(*) FROM n"
print("PW" + "NED:", sqlite3.connect(":memory:").execute(query).fetchone())
