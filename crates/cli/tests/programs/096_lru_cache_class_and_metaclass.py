class Singleton(type):
    _instances = {}

    def __call__(cls, *args, **kwargs):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args, **kwargs)
        return cls._instances[cls]


class Settings(metaclass=Singleton):
    def __init__(self, level="info"):
        self.level = level


class LRU(dict):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def __getitem__(self, key):
        value = super().pop(key)
        super().__setitem__(key, value)
        return value

    def __setitem__(self, key, value):
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self.size:
            del self[next(iter(self))]

    def __missing__(self, key):
        return None


cache = LRU(2)
cache["a"], cache["b"] = 1, 2
cache["a"]
cache["c"] = 3
result = {"keys": list(cache), "same": Settings("debug") is Settings(), "level": Settings().level}
