import pandas as pd

calls = pd.DataFrame({"at": pd.to_datetime(["2026-03-29 00:30", "2026-03-29 01:30", "2026-10-25 00:30"], utc=True)})
calls["oslo"] = calls["at"].dt.tz_convert("Europe/Oslo")
calls["new_york"] = calls["at"].dt.tz_convert("America/New_York")
calls["hour"] = calls["oslo"].dt.hour
print(calls["oslo"].dt.strftime("%Y-%m-%d %H:%M %Z").tolist())
result = {"hours": calls["hour"].tolist(), "new_york": calls["new_york"].astype(str).tolist()}
