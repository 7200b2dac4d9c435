

for _name, _test in list(globals().items()):
    if _name.startswith("test_") and callable(_test):
        _outcome = _test()
        if hasattr(_outcome, "__await__"):
            await _outcome
result = None
