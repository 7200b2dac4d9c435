import numpy as np

with open("people.csv", "w") as f:
    f.write("name,age,height\nAda,36,1.65\nGrace,45,1.70\nLinus,28,1.80\n")

people = np.genfromtxt("people.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
print(people.dtype.names)
older = people[people["age"] > 30]
result = {"names": older["name"].tolist(), "mean_height": float(people["height"].mean().round(4))}
