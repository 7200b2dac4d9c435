import pandas as pd

log = pd.Series(
    [
        "2026-01-02 10:00:01 ERROR payment failed order=1001",
        "2026-01-02 10:00:05 INFO login user=ann",
        "2026-01-02 10:01:09 ERROR timeout order=1002",
        "nonsense",
    ]
)
parsed = log.str.extract(r"^(?P<at>\S+ \S+) (?P<level>[A-Z]+) (?P<message>.*?)(?: order=(?P<order>\d+))?$")
errors = parsed[parsed["level"] == "ERROR"].copy()
errors["at"] = pd.to_datetime(errors["at"])
print(parsed["level"].isna().sum(), "unparsed")
result = errors
