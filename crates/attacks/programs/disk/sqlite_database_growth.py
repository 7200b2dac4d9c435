# attack: let SQLite write instead of Python
# expect: error | limit:file_bytes | limit:workspace_bytes | limit:wall_time
# forbid: PWNED
# timeout_ms: 15000
import sqlite3

db = sqlite3.connect("big.db")
db.execute("PRAGMA synchronous=OFF")
db.execute("CREATE TABLE t (b BLOB)")
for _ in range(768):
    db.execute("INSERT INTO t VALUES (randomblob(1000000))")
    db.commit()
print("PW" + "NED: database of 768 MB")
