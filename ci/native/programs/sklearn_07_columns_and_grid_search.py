import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

rng = np.random.default_rng(9)
df = pd.DataFrame({"age": rng.integers(18, 80, 120).astype(float), "plan": rng.choice(["free", "pro", "team"], 120), "visits": rng.poisson(4, 120)})
df.loc[::10, "age"] = np.nan
churned = ((df["visits"] < 3) & (df["plan"] == "free")).astype(int)
columns = ColumnTransformer(
    [
        ("numbers", Pipeline([("fill", SimpleImputer()), ("scale", StandardScaler())]), ["age", "visits"]),
        ("kinds", OneHotEncoder(), ["plan"]),
    ]
)
search = GridSearchCV(Pipeline([("columns", columns), ("tree", DecisionTreeClassifier(random_state=0))]), {"tree__max_depth": [1, 2, 4]}, cv=3, n_jobs=1)
search.fit(df, churned)
print(search.best_params_)
result = {"best": search.best_params_, "score": round(search.best_score_, 4)}
