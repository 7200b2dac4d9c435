import pandas as pd

df = pd.DataFrame({"a": range(10), "b": [x * 3 % 7 for x in range(10)]})
limit = 3
picked = df.query("a > @limit and b < 5").eval("c = a * b")
print(picked)
result = picked
