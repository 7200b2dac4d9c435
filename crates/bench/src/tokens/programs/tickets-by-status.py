from servers.database import query
result = await query(sql="SELECT status, count(*) AS tickets FROM tickets GROUP BY status ORDER BY status")
