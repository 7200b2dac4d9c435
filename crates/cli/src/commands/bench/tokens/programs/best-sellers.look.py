from servers.database import export_rows
result = await export_rows(table="order_items", limit=1)
