"""What is compared: steps for gristmill, and the same work in pandas beside them.

Differences on purpose, each where it is met:

- A missing value is `null` in rows and in CSV an empty field. Text such as "NA" or "None" is text; pandas
  takes it for missing unless it is told otherwise.
- Conditions have two values, as in plain pandas columns: a missing value equals nothing, so `!=` and
  `not in` hold for it. pandas' nullable columns give a third value, which is filled in here.
- Groups whose key is missing are kept (`dropna=False`).
- Percentiles are linear between neighbours, and standard deviation and variance are those of a sample:
  pandas' own defaults.
"""

import dataclasses
import typing

import numpy
import pandas
import tables

ORDERS, DAYS, CITIES, NESTED = tables.orders(), tables.days(), tables.cities(), tables.nested()


@dataclasses.dataclass
class Case:
    name: str
    steps: list
    # From the frame of the rows to what is expected.
    work: typing.Callable
    rows: typing.Any = dataclasses.field(default_factory=lambda: ORDERS)
    # Whether the order of rows is promised.
    is_ordered: bool = True
    inputs: dict | None = None
    # Other arguments of the call, in place of the rows.
    arguments: dict | None = None
    # What of our answer is compared.
    read: typing.Callable = lambda result: result

    def request(self):
        source = {"data": self.rows} if self.arguments is None else self.arguments
        inputs = {"inputs": self.inputs} if self.inputs else {}
        return {**source, **inputs, "steps": self.steps}

    def pandas(self):
        return self.work(tables.frame(self.rows))


def condition(field, operator, *value):
    return {"field": field, "operator": operator, **({"value": value[0]} if value else {})}


def filtered(name, body, mask):
    """Rows for which a condition holds; a missing third value is no."""

    def work(frame):
        return frame[mask(frame).fillna(False).astype(bool)]

    return Case(f"filter {name}", [{"filter": body}], work)


def _not_equal(column, value):
    return (column != value).fillna(True)


FILTERS = [
    filtered("== number", condition("count", "==", 7), lambda f: f["count"] == 7),
    filtered("!= number keeps what is missing", condition("count", "!=", 7), lambda f: _not_equal(f["count"], 7)),
    filtered("> number", condition("count", ">", 20), lambda f: f["count"] > 20),
    filtered(">= fraction", condition("weight", ">=", 40.5), lambda f: f["weight"] >= 40.5),
    filtered("< negative", condition("count", "<", -1), lambda f: f["count"] < -1),
    filtered("<= between kinds of numbers", condition("count", "<=", 3.5), lambda f: f["count"] <= 3.5),
    filtered(
        "== big integer, exactly", condition("big", "==", ORDERS[5]["big"]), lambda f: f["big"] == ORDERS[5]["big"]
    ),
    filtered("> big integer", condition("big", ">", tables.BIG + 500), lambda f: f["big"] > tables.BIG + 500),
    filtered("== text", condition("city", "==", "Łódź"), lambda f: f["city"] == "Łódź"),
    filtered("== empty text", condition("city", "==", ""), lambda f: f["city"] == ""),
    filtered("!= text", condition("city", "!=", "Oslo"), lambda f: _not_equal(f["city"], "Oslo")),
    filtered("> text", condition("city", ">", "Oslo"), lambda f: f["city"] > "Oslo"),
    filtered("== truth", condition("open", "==", True), lambda f: f["open"]),
    filtered("!= truth", condition("open", "!=", True), lambda f: _not_equal(f["open"], True)),
    filtered("in numbers", condition("count", "in", [1, 2, 30]), lambda f: f["count"].isin([1, 2, 30])),
    filtered(
        "in texts", condition("city", "in", ["Oslo", "Rome", "?"]), lambda f: f["city"].isin(["Oslo", "Rome", "?"])
    ),
    filtered("not in", condition("city", "not in", ["Oslo", "Rome"]), lambda f: ~f["city"].isin(["Oslo", "Rome"])),
    filtered("contains", condition("city", "contains", "o"), lambda f: f["city"].str.contains("o", regex=False)),
    filtered("starts", condition("city", "starts", "São"), lambda f: f["city"].str.startswith("São")),
    filtered("ends", condition("city", "ends", "e"), lambda f: f["city"].str.endswith("e")),
    filtered(
        "matches", condition("city", "matches", "^[A-Z].*[mo]$"), lambda f: f["city"].str.contains("^[A-Z].*[mo]$")
    ),
    filtered("between numbers", condition("weight", "between", [10, 20.5]), lambda f: f["weight"].between(10, 20.5)),
    filtered(
        "between dates",
        condition("day", "between", ["2026-02-01", "2026-02-10"]),
        lambda f: (f["day"] >= "2026-02-01") & (f["day"] <= "2026-02-10"),
    ),
    filtered("is null", condition("weight", "is null"), lambda f: f["weight"].isna()),
    filtered("is not null", condition("city", "is not null"), lambda f: f["city"].notna()),
    filtered(
        "and",
        {"and": [condition("count", ">", 5), condition("open", "==", True)]},
        lambda f: (f["count"] > 5).fillna(False) & f["open"].fillna(False),
    ),
    filtered(
        "or",
        {"or": [condition("count", ">", 30), condition("city", "==", "Rome")]},
        lambda f: (f["count"] > 30).fillna(False) | (f["city"] == "Rome").fillna(False),
    ),
    filtered("not", {"not": condition("count", ">", 5)}, lambda f: ~(f["count"] > 5).fillna(False)),
    filtered(
        "nested",
        {
            "or": [
                {"and": [condition("kind", "==", "a"), {"not": condition("open", "==", True)}]},
                condition("weight", ">", 80),
            ]
        },
        lambda f: ((f["kind"] == "a") & ~f["open"].fillna(False)) | (f["weight"] > 80).fillna(False),
    ),
    filtered(
        "conditions and logic",
        {"conditions": [condition("count", ">", 30), condition("weight", "<", 3)], "logic": "OR"},
        lambda f: (f["count"] > 30).fillna(False) | (f["weight"] < 3).fillna(False),
    ),
    filtered("nothing left", condition("count", ">", 10_000), lambda f: f["count"] > 10_000),
    Case(
        "filter a dotted field",
        [{"filter": condition("customer.address.zip", ">", 1002)}, {"select": ["id"]}],
        lambda f: f[f["customer"].map(lambda customer: customer["address"]["zip"]) > 1002][["id"]],
        rows=NESTED,
    ),
]


def grouped(name, keys, aggregations, figures):
    """One row for each group; `figures` are columns of a group's frame."""

    def work(frame):
        rows = []
        for key, group in frame.groupby(keys, sort=False, dropna=False) if keys else [((), frame)]:
            key = key if isinstance(key, tuple) else (key,)
            rows.append({**dict(zip(keys, key)), **{column: figure(group) for column, figure in figures.items()}})
        return rows

    body = {"group_by": keys, "aggregations": aggregations} if keys else {"aggregations": aggregations}
    return Case(f"aggregate {name}", [{"aggregate": body}], work, is_ordered=False)


def figure(field, function):
    """One figure of one column, missing values left out."""

    def of(group):
        there = group[field].dropna()
        if function == "count":
            return len(there)
        if function == "missing":
            return int(group[field].isna().sum())
        if function == "distinct":
            return there.nunique()
        if function == "sum":
            return there.sum()
        if not len(there):
            return None
        if function in ("first", "last"):
            return there.iloc[0 if function == "first" else -1]
        if isinstance(function, float):
            return there.astype(float).quantile(function)
        return getattr(there, function)()

    return of


NUMERIC = ["count", "missing", "sum", "mean", "median", "min", "max", "std", "var", "first", "last", "distinct"]

AGGREGATES = [
    *(
        grouped(
            f"{function} of fractions",
            ["city"],
            {"weight": function},
            {f"weight_{function}": figure("weight", function)},
        )
        for function in NUMERIC
    ),
    grouped(
        "many of whole numbers",
        ["kind"],
        {"count": ["sum", "mean", "median", "min", "max", "std"]},
        {f"count_{name}": figure("count", name) for name in ("sum", "mean", "median", "min", "max", "std")},
    ),
    grouped(
        "money to the cent",
        ["kind"],
        {"price": ["sum", "mean"]},
        {"price_sum": figure("price", "sum"), "price_mean": figure("price", "mean")},
    ),
    grouped(
        "big integers, exactly",
        ["kind"],
        {"big": ["sum", "min", "max"]},
        {f"big_{name}": lambda group, name=name: int(getattr(group["big"], name)()) for name in ("sum", "min", "max")},
    ),
    grouped(
        "truth values",
        ["kind"],
        {"open": ["sum", "count", "first"]},
        {
            "open_sum": lambda group: int(group["open"].sum()),
            "open_count": figure("open", "count"),
            "open_first": figure("open", "first"),
        },
    ),
    grouped(
        "text",
        ["kind"],
        {"city": ["min", "max", "first", "last", "distinct", "missing"]},
        {f"city_{name}": figure("city", name) for name in ("min", "max", "first", "last", "distinct", "missing")},
    ),
    grouped(
        "percentiles and quartiles",
        ["kind"],
        {"weight": ["p90", "quartiles"]},
        {
            "weight_p90": figure("weight", 0.9),
            "weight_q1": figure("weight", 0.25),
            "weight_q2": figure("weight", 0.5),
            "weight_q3": figure("weight", 0.75),
        },
    ),
    grouped(
        "by two keys, one with gaps",
        ["city", "open"],
        {"price": "sum"},
        {"price_sum": figure("price", "sum")},
    ),
    grouped(
        "without a key",
        [],
        {"weight": ["mean", "std"]},
        {"weight_mean": figure("weight", "mean"), "weight_std": figure("weight", "std")},
    ),
    grouped("counts of rows", ["city"], ["count"], {"count": len}),
    Case(
        "aggregate keeps groups in the order of their first rows",
        [{"aggregate": {"group_by": "kind", "aggregations": {"id": "first"}}}],
        lambda frame: frame.groupby("kind", sort=False).agg(id_first=("id", "first")).reset_index(),
    ),
    Case(
        "aggregate nothing by a key gives no rows",
        [
            {"filter": condition("count", ">", 10_000)},
            {"aggregate": {"group_by": "kind", "aggregations": {"weight": "sum"}}},
        ],
        lambda frame: [],
    ),
    Case(
        "aggregate what one row cannot have",
        [{"filter": condition("id", "==", 9)}, {"aggregate": {"aggregations": {"price": ["std", "var", "median"]}}}],
        lambda frame: [
            {"price_std": None, "price_var": None, "price_median": frame[frame["id"] == 9]["price"].iloc[0]}
        ],
    ),
]


def changed(name, steps, work, **more):
    return Case(f"transform {name}", steps, work, **more)


def joined(how, **more):
    def work(frame):
        return frame[["id", "city"]].merge(tables.frame(CITIES), on="city", how=how)

    ours = {"outer": "full"}.get(how, how)
    steps = [{"select": ["id", "city"]}, {"join": {"with": "cities", "on": "city", "how": ours}}]
    return changed(f"join {ours}", steps, work, inputs={"cities": CITIES}, is_ordered=False, **more)


def partnered(how, wanted):
    def work(frame):
        return frame[frame["city"].isin([row["city"] for row in CITIES]) == wanted][["id", "city"]]

    steps = [{"select": ["id", "city"]}, {"join": {"with": "cities", "on": "city", "how": how}}]
    return changed(f"join {how}", steps, work, inputs={"cities": CITIES})


# An empty field is missing; words that pandas takes for missing are text, and NaN is a number.
ODD_CSV = "name,score,note\nA,1.5,NA\nB,,None\nC,NaN,x\nD,-2.25,\nE,1e3,null\n"


def odd_frame():
    notes = pandas.read_csv(tables.text_file(ODD_CSV), keep_default_na=False, na_values=[""])["note"]
    return pandas.read_csv(tables.text_file(ODD_CSV)).assign(note=notes)


TRANSFORMS = [
    changed("select in another order", [{"select": ["price", "id"]}], lambda f: f[["price", "id"]]),
    changed("drop", [{"drop": ["city", "big", "open"]}], lambda f: f.drop(columns=["city", "big", "open"])),
    changed("rename", [{"rename": {"count": "pieces"}}], lambda f: f.rename(columns={"count": "pieces"})),
    changed(
        "sort, missing last, equal ones as they were",
        [{"sort": ["city", "-count"]}, {"select": ["id"]}],
        lambda f: f.sort_values(["city", "count"], ascending=[True, False], na_position="last", kind="stable")[["id"]],
    ),
    changed(
        "sort downwards, missing last",
        [{"sort": {"field": "weight", "descending": True}}, {"select": ["id", "weight"]}],
        lambda f: f.sort_values("weight", ascending=False, na_position="last", kind="stable")[["id", "weight"]],
    ),
    changed("limit with an offset", [{"limit": {"count": 7, "offset": 5}}], lambda f: f.iloc[5:12]),
    changed("limit beyond the end", [{"limit": 100_000}, {"select": ["id"]}], lambda f: f[["id"]]),
    changed(
        "compute, missing stays missing",
        [{"compute": {"total": "price * count", "half": "weight / 2 + 1"}}, {"select": ["id", "total", "half"]}],
        lambda f: f.assign(total=f["price"] * f["count"], half=f["weight"] / 2 + 1)[["id", "total", "half"]],
    ),
    changed(
        "compute with whole numbers, exactly",
        [{"compute": {"next": "big + 1"}}, {"select": ["next"]}],
        lambda f: pandas.DataFrame({"next": f["big"] + 1}),
    ),
    changed(
        "cast to text and back",
        [{"cast": {"id": "text"}}, {"cast": {"id": "integer"}}, {"select": ["id"]}],
        lambda f: f[["id"]],
    ),
    changed("distinct rows", [{"distinct": {}}], lambda f: f.drop_duplicates()),
    changed(
        "distinct by a field",
        [{"distinct": ["kind", "open"]}, {"select": ["id"]}],
        lambda f: f.drop_duplicates(["kind", "open"])[["id"]],
    ),
    changed(
        "several in one step",
        [{"transform": {"compute": {"total": "price * 2"}, "sort": "-total", "limit": 5, "select": ["id", "total"]}}],
        lambda f: (
            f.assign(total=f["price"] * 2).sort_values("total", ascending=False, kind="stable").head(5)[["id", "total"]]
        ),
    ),
    joined("inner"),
    joined("left"),
    joined("outer"),
    partnered("semi", True),
    partnered("anti", False),
    changed(
        "unnest a list",
        [{"unnest": "tags"}],
        lambda f: f.explode("tags").dropna(subset=["tags"]),
        rows=[{"id": number, "tags": [f"t{step}" for step in range(number % 4)]} for number in range(12)],
    ),
    Case(
        "csv keeps words that pandas takes for missing",
        [{"select": ["name", "note"]}],
        lambda _: odd_frame()[["name", "note"]],
        arguments={"data": ODD_CSV, "format": "csv"},
    ),
    Case(
        "csv leaves NaN out of figures",
        [{"aggregate": {"aggregations": {"score": ["sum", "mean", "min", "max"]}}}],
        lambda _: [{f"score_{name}": getattr(odd_frame()["score"], name)() for name in ("sum", "mean", "min", "max")}],
        arguments={"data": ODD_CSV, "format": "csv"},
    ),
    Case(
        "nothing at all",
        [{"filter": condition("a", "is null")}],
        lambda _: [],
        rows=[],
        arguments={"data": "a,b\n", "format": "csv"},
    ),
]


NUMBERS = ["count", "weight", "price"]
DESCRIBED = ("count", "missing", "distinct", "mean", "std", "min", "p25", "median", "p75", "max")


def plain_numbers(frame, fields):
    return frame[fields].astype("Float64").astype(float)


def described(frame):
    def about(column):
        there = column.dropna()
        figures = there.describe()
        names = {"p25": "25%", "median": "50%", "p75": "75%"}
        told = {name: figures[names.get(name, name)] for name in DESCRIBED[3:]}
        return {"count": len(there), "missing": int(column.isna().sum()), "distinct": there.nunique(), **told}

    return {field: about(plain_numbers(frame, NUMBERS)[field]) for field in NUMBERS}


def correlated(method, matrix):
    fields = {"fields": NUMBERS, "method": method}
    read = lambda result: result["matrix"]
    return Case(
        f"correlate {method}",
        [{"correlate": fields}],
        lambda f: matrix(plain_numbers(f, NUMBERS)).values.tolist(),
        read=read,
    )


def variance_between(frame):
    """One-way ANOVA of the counts by kind, by its formula: pandas has none."""
    counts = frame.assign(count=plain_numbers(frame, ["count"])["count"]).dropna(subset=["count"])
    groups = [group["count"] for _, group in counts.groupby("kind")]
    between = sum(len(group) * (group.mean() - counts["count"].mean()) ** 2 for group in groups)
    within = sum(((group - group.mean()) ** 2).sum() for group in groups)
    freedom = len(counts) - len(groups)
    f = between / (len(groups) - 1) / (within / freedom)
    # With three groups the F distribution has this closed form.
    assert len(groups) == 3
    return [f, len(groups) - 1, freedom, (freedom / (freedom + 2 * f)) ** (freedom / 2), between / (between + within)]


def variance_read(result):
    freedom = result["degrees_of_freedom"]
    return [result["statistic"], freedom["between"], freedom["within"], result["p_value"], result["eta_squared"]]


def far(method, threshold, bounds):
    def work(frame):
        numbers = plain_numbers(frame, ["weight"])["weight"]
        low, high = bounds(numbers.dropna(), threshold)
        return frame[(numbers < low) | (numbers > high)]

    return Case(
        f"outliers {method}", [{"outliers": {"field": "weight", "method": method, "threshold": threshold}}], work
    )


def by_quartiles(numbers, threshold):
    low, high = numbers.quantile(0.25), numbers.quantile(0.75)
    return low - threshold * (high - low), high + threshold * (high - low)


def by_deviations(numbers, threshold):
    return numbers.mean() - threshold * numbers.std(), numbers.mean() + threshold * numbers.std()


def by_median_deviations(numbers, threshold):
    # Scaled so that it is the standard deviation of normal data.
    scaled = 1.482602218505602 * (numbers - numbers.median()).abs().median()
    return numbers.median() - threshold * scaled, numbers.median() + threshold * scaled


REPORTS = [
    Case(
        "describe numbers",
        [{"describe": {"fields": NUMBERS}}],
        described,
        read=lambda result: {about["field"]: {name: about[name] for name in DESCRIBED} for about in result["columns"]},
    ),
    Case(
        "describe counts rows, text and gaps",
        [{"describe": {}}],
        lambda f: [
            len(f),
            {name: [int(f[name].notna().sum()), int(f[name].isna().sum()), f[name].nunique()] for name in f},
        ],
        read=lambda result: [
            result["rows"],
            {about["field"]: [about["count"], about["missing"], about["distinct"]] for about in result["columns"]},
        ],
    ),
    correlated("pearson", lambda numbers: numbers.corr()),
    correlated("spearman", lambda numbers: numbers.corr(method="spearman")),
    correlated("covariance", lambda numbers: numbers.cov()),
    Case(
        "covariance by its own name",
        [{"covariance": {"fields": NUMBERS}}],
        lambda f: plain_numbers(f, NUMBERS).cov().values.tolist(),
        read=lambda result: result["matrix"],
    ),
    Case("anova", [{"anova": {"field": "count", "group": "kind"}}], variance_between, read=variance_read),
    far("iqr", 0.3, by_quartiles),
    far("zscore", 1.5, by_deviations),
    far("mad", 1.2, by_median_deviations),
]


def over_time(name, settings, work, **more):
    """Over the days, each once, in order."""
    steps = [{"timeseries": {"time": "day", **settings}}]
    return Case(f"timeseries {name}", steps, work, rows=DAYS, **more)


def dated(frame):
    return pandas.Series(frame["value"].astype(float).values, index=pandas.to_datetime(frame["day"].astype(str)))


def resampled(name, every, **settings):
    def work(frame):
        figures = dated(frame).resample(every, **settings).agg(["sum", "mean", "count"]).add_prefix("value_")
        return figures.rename_axis("day").reset_index()

    aggregations = {"value": ["sum", "mean", "count"]}
    return over_time(f"resample {name}", {"operation": "resample", "every": name, "aggregations": aggregations}, work)


def beside(name, settings, values):
    """The days with one more column."""

    def work(frame):
        return frame.assign(made=values(dated(frame)).values)

    return over_time(name, {**settings, "field": "value", "as": "made"}, work)


def line(frame):
    series = dated(frame)
    days = (series.index - series.index[0]).days.to_numpy(float)
    slope, intercept = numpy.polyfit(days, series.to_numpy(), 1)
    return [slope, intercept, numpy.corrcoef(days, series.to_numpy())[0, 1] ** 2]


TIMES = [
    resampled("month", "MS"),
    resampled("week", "W-MON", label="left", closed="left"),
    resampled("day", "D"),
    beside("rolling rows", {"operation": "rolling", "window": 7}, lambda series: series.rolling(7).mean()),
    beside(
        "rolling days",
        {"operation": "rolling", "window": "7d", "function": "std"},
        lambda series: series.rolling("7D").std(),
    ),
    beside("difference", {"operation": "difference"}, lambda series: series.diff()),
    beside(
        "difference over two rows, in percent",
        {"operation": "difference", "periods": 2, "percent": True},
        lambda series: series.pct_change(2) * 100,
    ),
    over_time(
        "gaps",
        {"operation": "gaps", "every": "day"},
        lambda frame: [1] * 8,
        read=lambda result: [row["missing"] for row in result],
    ),
    over_time(
        "trend",
        {"operation": "trend", "field": "value"},
        line,
        read=lambda result: [result["slope_per_day"], result["intercept"], result["r_squared"]],
    ),
]

CASES = [*FILTERS, *AGGREGATES, *TRANSFORMS, *REPORTS, *TIMES]
