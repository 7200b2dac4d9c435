from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_score

data = load_breast_cancer()
forest = RandomForestClassifier(n_estimators=30, random_state=0)
scores = cross_val_score(forest, data.data, data.target, cv=3)
forest.fit(data.data, data.target)
ranked = sorted(zip(forest.feature_importances_, data.feature_names), reverse=True)[:3]
boosted = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(data.data, data.target)
print([name for _, name in ranked])
result = {"scores": scores.round(4), "boosted": round(boosted.score(data.data, data.target), 4)}
