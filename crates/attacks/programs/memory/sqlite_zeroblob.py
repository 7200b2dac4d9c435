# attack: let SQLite allocate outside the Python heap
# expect: limit:memory | error
# forbid: PWNED
# memory_mb: 128
# timeout_ms: 5000
import sqlite3

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE t (b BLOB)")
for _ in range(12):
    db.execute("INSERT INTO t VALUES (zeroblob(90000000))")
print("PW" + "NED:", db.execute("SELECT SUM(LENGTH(b)) FROM t").fetchone())
