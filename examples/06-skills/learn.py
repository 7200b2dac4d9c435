CODE = '''
"""Tickets that cannot wait, the oldest first."""

from servers.database import query

SQL = """
SELECT number, opened_on, subject FROM tickets
WHERE status = 'open' AND priority = 'urgent' ORDER BY opened_on, number LIMIT ?
"""


async def pressing_tickets(limit: int = 5) -> list:
    """Open tickets of priority urgent, as (number, day, subject)."""
    answer = await query(sql=SQL, params=[limit])
    return [(row["number"], row["opened_on"], row["subject"]) for row in answer["rows"]]
'''

# It is kept only if its test passes, in a sandbox of its own and against the real server.
TEST = '''
from skills.pressing_tickets import pressing_tickets

found = await pressing_tickets(limit=2)
assert len(found) == 2
assert found[0][1] <= found[1][1]
'''

saved = await save_skill("pressing_tickets", CODE, test=TEST, tags=["support"])
result = f"{saved['name']} is saved as version {saved['version']}"
