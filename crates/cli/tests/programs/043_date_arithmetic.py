from datetime import date, datetime, timedelta

start, end = date(2026, 1, 30), date(2026, 3, 2)
days = (end - start).days
workdays = sum(1 for n in range(days) if (start + timedelta(n)).weekday() < 5)
parsed = [datetime.strptime(s, f) for s, f in [("03/04/2026", "%d/%m/%Y"), ("2026-W10-1", "%G-W%V-%u"), ("7 Dec 2026 5PM", "%d %b %Y %I%p")]]
result = {
    "days": days,
    "workdays": workdays,
    "parsed": parsed,
    "iso": list(end.isocalendar()),
    "leap": [y for y in range(2020, 2034) if (date(y, 3, 1) - timedelta(1)).day == 29],
    "seconds": timedelta(days=1, hours=2, minutes=3, milliseconds=4).total_seconds(),
}
