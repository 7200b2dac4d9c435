import calendar
from datetime import date

cal = calendar.Calendar(firstweekday=0)
holidays = {date(2026, 5, 1): "Labour Day", date(2026, 5, 14): "Ascension"}
print("     May 2026")
print("Mo Tu We Th Fr Sa Su")
for week in cal.monthdatescalendar(2026, 5):
    cells = []
    for day in week:
        if day.month != 5:
            cells.append("  ")
        elif day in holidays:
            cells.append(" *")
        else:
            cells.append(f"{day.day:2d}")
    print(" ".join(cells).rstrip())
print(calendar.monthrange(2028, 2)[1], calendar.isleap(2100))
