import pandas as pd

summary = pd.DataFrame({"city": ["Oslo", "Bergen"], "total": [120.5, 80.0]})
details = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=3), "n": [1, 2, 3]})
with pd.ExcelWriter("report.xlsx", engine="openpyxl") as writer:
    summary.to_excel(writer, sheet_name="Summary", index=False)
    details.to_excel(writer, sheet_name="Details", index=False)
sheets = pd.read_excel("report.xlsx", sheet_name=None)
print(list(sheets))
result = sheets["Details"]
