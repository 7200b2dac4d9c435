import pandas as pd

orders = pd.DataFrame(
    {
        "user": [1, 1, 1, 2, 2, 3, 3, 4],
        "date": pd.to_datetime(
            ["2026-01-03", "2026-02-10", "2026-03-01", "2026-01-20", "2026-03-11", "2026-02-02", "2026-02-28", "2026-03-05"]
        ),
    }
)
orders["month"] = orders["date"].dt.to_period("M")
orders["cohort"] = orders.groupby("user")["month"].transform("min")
orders["age"] = (orders["month"] - orders["cohort"]).apply(lambda months: months.n)
cohorts = orders.groupby(["cohort", "age"])["user"].nunique().unstack(fill_value=0)
print(cohorts)
result = cohorts
