import numpy as np
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import train_test_split

rng = np.random.RandomState(0)
X = rng.rand(200, 3)
y = 4 * X[:, 0] - 2 * X[:, 1] + 0.5 + rng.normal(0, 0.05, 200)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
model = LinearRegression().fit(X_train, y_train)
predicted = model.predict(X_test)
print(f"R2 {r2_score(y_test, predicted):.4f}")
result = {"coefficients": model.coef_.round(4), "mse": round(mean_squared_error(y_test, predicted), 6), "ridge": Ridge(1.0).fit(X_train, y_train).coef_.round(4)}
