# A day later: a new gateway and a new process, but the same session, found by its name.
from skills.warmest_day import warmest

day = warmest(json.loads(read_file("summer.json")))
state["warmest"] = day["date"]
result = f"Tuesday: the warmest day of {state['city']} was {day['date']} with {day['temp_max_c']} °C"
