def flatten(value, prefix=""):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from flatten(item, f"{prefix}.{key}" if prefix else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from flatten(item, f"{prefix}[{index}]")
    else:
        yield prefix, value


document = json.loads(
    '{"user": {"name": "Ines", "tags": ["a", "b", {"deep": true}], "age": null}, "scores": [[1, 2], [3.5]], "none": {}}'
)
dict(flatten(document))
