import pandas as pd

df = pd.DataFrame({"name": ["Ann", "Bob"], "balance": [1234.5, -20.0]})
print(df.to_html(index=False, float_format="{:,.2f}".format))
print(df.to_json(orient="split"))
result = df.to_dict("list")
