"""The world that the pictures of docs/dashboard.md show: a few servers, and a day of an agent's work."""

import random
import sqlite3
import time

CLIENT, TOKEN = "reporting agent", "laptop"
SERVERS = ("crm", "documents", "database", "weather")
SESSION = "weekly-report"

TRANSCRIPT = """\
# The transcript goes from one server into a record of another.
from servers.crm import update_record
from servers.documents import get_document
from servers.database import export_rows

transcript = await get_document(document_id="DOC-0107")
tickets = (await export_rows(table="tickets", limit=2000))["rows"]
urgent = [t for t in tickets if t["status"] == "open" and t["priority"] == "urgent"]
print(f"{transcript['words']:,} words, {len(urgent)} urgent tickets of {len(tickets):,}")
result = {"words": transcript["words"], "urgent": [t["number"] for t in urgent[:5]]}
"""
LEADS = """\
from servers.crm import list_leads

leads, page = [], 1
while page:
    answer = await list_leads(status="new", page=page, page_size=100)
    leads += answer["records"]
    page = answer["next_page"]
result = len(leads)
"""
TICKETS = """\
from collections import Counter
from servers.database import export_rows

rows = (await export_rows(table="tickets", limit=3000))["rows"]
result = Counter(row["status"] for row in rows).most_common()
"""
BROKEN = """\
from servers.database import export_rows

rows = (await export_rows(table="tickets", limit=500))["rows"]
by_owner = {row["owner"]: row for row in rows}
result = len(by_owner)
"""
DAY = [LEADS, TICKETS, LEADS, TRANSCRIPT, TICKETS, BROKEN, LEADS, TICKETS, TRANSCRIPT, LEADS, TICKETS, TRANSCRIPT]
ASKS = """\
from servers.crm import add_note

await add_note(
    record_id="ACC-0007", text="Renewal call on Thursday: they want the yearly plan, and a discount for 40 seats."
)
"""
TRIED = """\
from servers.database import export_rows

rows = (await export_rows(table="tickets", limit=3000))["rows"]
urgent = [row for row in rows if row["priority"] == "urgent"]
print(f"{len(urgent)} of {len(rows):,} tickets are urgent")
result = {"urgent": len(urgent), "of": len(rows)}
"""


def programs():
    """The work of a day, in its order."""
    return [{"code": code, "session": SESSION} for code in DAY * 2]


def spread_over_the_day(data):
    """What ran within a minute ran since this morning."""
    now, chance = int(time.time() * 1_000), random.Random(7)
    with sqlite3.connect(data / "gristmill.db", timeout=30) as database:
        numbers = [number for number, in database.execute("SELECT number FROM executions ORDER BY number DESC")]
        # The last few stay where they are.
        moments = sorted((chance.randrange(20 * 60_000, 23 * 3_600_000) for _ in numbers[3:]))
        rows = [(now - back, number) for back, number in zip(moments, numbers[3:])]
        database.executemany("UPDATE executions SET started_ms = ? WHERE number = ?", rows)
