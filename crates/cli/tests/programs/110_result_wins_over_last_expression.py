result = {"from": "variable"}
print("printed once")
"not this one"
