import pandas as pd

trades = pd.DataFrame({"time": pd.to_datetime(["10:00:01", "10:00:04", "10:00:09"], format="%H:%M:%S"), "qty": [5, 7, 2]})
quotes = pd.DataFrame({"time": pd.to_datetime(["10:00:00", "10:00:03", "10:00:08"], format="%H:%M:%S"), "bid": [99.5, 99.7, 99.6]})
matched = pd.merge_asof(trades, quotes, on="time", tolerance=pd.Timedelta("2s"))
matched["time"] = matched["time"].dt.strftime("%H:%M:%S")
result = matched.assign(value=matched["qty"] * matched["bid"])
