from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

meeting = datetime(2026, 3, 29, 0, 30, tzinfo=ZoneInfo("UTC"))
for hours in (0, 1, 2):
    moment = meeting + timedelta(hours=hours)
    row = [
        moment.astimezone(ZoneInfo(zone)).strftime("%a %H:%M %z")
        for zone in ("Europe/Paris", "America/New_York", "Asia/Kolkata", "Australia/Sydney")
    ]
    print(" | ".join(row))
