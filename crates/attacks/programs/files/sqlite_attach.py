# attack: let SQLite open, create or load files of the host
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import sqlite3

db = sqlite3.connect("mine.db")
for action in (
    lambda: db.execute("ATTACH '@@CANARY@@' AS c").execute("SELECT * FROM c.sqlite_master").fetchall(),
    lambda: sqlite3.connect("file:@@CANARY@@?immutable=1", uri=True).execute("SELECT * FROM sqlite_master").fetchall(),
    lambda: db.execute("ATTACH '@@OTHER_WORKSPACE@@/planted-@@NONCE@@.db' AS o").execute("CREATE TABLE o.t (x)"),
    lambda: db.execute("VACUUM INTO '../../guest-@@NONCE@@.db'"),
    lambda: (db.enable_load_extension(True), db.load_extension("/lib/x86_64-linux-gnu/libc.so.6")),
    lambda: db.execute("SELECT readfile('@@CANARY@@')").fetchall(),
    lambda: db.execute("SELECT writefile('/tmp/../guest-@@NONCE@@', 'x')").fetchall(),
):
    try:
        print("PW" + "NED:", action())
    except Exception as error:
        print(type(error).__name__)
