# Another session. Skills are for all programs of this user; files and state are not.
from skills.warmest_day import warmest

day = warmest([{"date": "here", "temp_max_c": 20}, {"date": "there", "temp_max_c": 30}])
print(f"Stranger: files {list_directory('/workspace')}, state {dict(state)}")
result = f"Stranger: the skill says that it is warmest {day['date']}"
