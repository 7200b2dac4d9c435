from servers.weather import history

CODE = '''
"""Rows of weather, day by day."""


def warmest(rows: list) -> dict:
    """The day with the highest temperature; of several the first."""
    return max(rows, key=lambda row: row["temp_max_c"])
'''

TEST = '''
from skills.warmest_day import warmest

assert warmest([{"temp_max_c": 1}, {"temp_max_c": 2}]) == {"temp_max_c": 2}
'''

rows = (await history(city="Oslo", from_="2025-06-01", to="2025-08-31"))["rows"]
write_file("summer.json", json.dumps(rows))
state["city"] = "Oslo"
await save_skill("warmest_day", CODE, test=TEST)
result = f"Monday: {len(rows)} days of {state['city']} are kept, and a skill to look at them"
