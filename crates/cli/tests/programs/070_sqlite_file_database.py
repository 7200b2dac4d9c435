import sqlite3
from contextlib import closing

with closing(sqlite3.connect("shop.db")) as db, db:
    db.executescript(
        """
        CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL);
        CREATE TABLE sale (product_id INTEGER REFERENCES product(id), day TEXT, n INTEGER);
        """
    )
    db.executemany("INSERT INTO product (name, price) VALUES (?, ?)", [("flour", 2.5), ("bran", 1.25), ("oats", 3.0)])
    db.executemany("INSERT INTO sale VALUES (?, ?, ?)", [(1, "2026-01-01", 4), (1, "2026-01-02", 6), (3, "2026-01-02", 2)])

with closing(sqlite3.connect("shop.db")) as db:
    totals = db.execute(
        "SELECT p.name, COALESCE(SUM(s.n * p.price), 0) FROM product p LEFT JOIN sale s ON s.product_id = p.id GROUP BY p.id ORDER BY 2 DESC"
    ).fetchall()
    running = db.execute(
        "SELECT day, SUM(SUM(n)) OVER (ORDER BY day) FROM sale GROUP BY day ORDER BY day"
    ).fetchall()
    try:
        db.execute("INSERT INTO product (name) VALUES ('flour')")
        unique = "not enforced"
    except sqlite3.IntegrityError:
        unique = "enforced"

result = {"totals": totals, "running": running, "unique": unique}
