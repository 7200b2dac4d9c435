import sqlite3

import pandas as pd

orders = pd.DataFrame({"id": range(1, 6), "city": ["Oslo", "Bergen", "Oslo", "Troms", "Bergen"], "total": [10, 20, 30, 40, 50]})
connection = sqlite3.connect("orders.db")
orders.to_sql("orders", connection, index=False, if_exists="replace")
by_city = pd.read_sql("SELECT city, COUNT(*) AS n, SUM(total) AS total FROM orders GROUP BY city ORDER BY total DESC", connection)
connection.close()
print(by_city.to_string(index=False))
result = by_city
