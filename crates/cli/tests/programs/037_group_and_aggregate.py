from itertools import groupby
from operator import itemgetter

sales = [
    {"region": "north", "rep": "Ada", "units": 12}, {"region": "south", "rep": "Bo", "units": 7},
    {"region": "north", "rep": "Cy", "units": 3}, {"region": "east", "rep": "Di", "units": 19},
    {"region": "south", "rep": "Ed", "units": 11}, {"region": "east", "rep": "Fay", "units": 1},
]
sales.sort(key=itemgetter("region", "rep"))
for region, rows in groupby(sales, key=itemgetter("region")):
    rows = list(rows)
    best = max(rows, key=itemgetter("units"))
    print(f"{region.title()}: {sum(r['units'] for r in rows)} units, best {best['rep']} ({best['units']})")
