data = {"b": [1, 2, {"z": None}], "a": "über", "n": 1e21, "t": True}
print(json.dumps(data))
print(json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":")))
print(json.dumps(data, indent=2, sort_keys=True))
print(json.loads('[1, 2.0, "\\u00e9", 12345678901234567890]'))
print(json.loads('{"price": 1.10}', parse_float=str))
