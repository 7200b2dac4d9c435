import pandas as pd

prices = pd.Series([100, 102, 101, 105, 107, 110, 108], index=pd.date_range("2026-03-02", periods=7, freq="B"))
frame = pd.DataFrame({"price": prices})
frame["change"] = frame["price"].pct_change().mul(100).round(2)
frame["mean3"] = frame["price"].rolling(3).mean().round(2)
frame["signal"] = (frame["price"] > frame["mean3"]).map({True: "up", False: "down"})
result = frame.dropna().reset_index(names="day")
