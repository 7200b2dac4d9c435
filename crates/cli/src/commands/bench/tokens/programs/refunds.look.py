from servers.database import export_rows
result = await export_rows(table="orders", limit=1)
