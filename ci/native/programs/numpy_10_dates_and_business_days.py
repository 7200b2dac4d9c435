import numpy as np

start, end = np.datetime64("2026-01-01"), np.datetime64("2026-03-31")
days = np.arange(start, end + 1)
holidays = ["2026-01-01"]
print(np.busday_count(start, end, holidays=holidays))
result = {
    "business_days": int(np.is_busday(days, holidays=holidays).sum()),
    "third_friday": str(np.busday_offset("2026-02", 2, roll="forward", weekmask="Fri")),
    "ends": days[[0, -1]],
}
