from servers.database import query
answer = await query(sql="SELECT status, count(*) AS tickets FROM tickets GROUP BY status ORDER BY status")
result = answer["rows"]
