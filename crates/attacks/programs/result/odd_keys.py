# attack: keys that are not text, or become the same text
# expect: ok | error
# forbid: PWNED
class Key:
    def __hash__(self):
        return 1

    def __eq__(self, other):
        return False

    def __str__(self):
        return "same"


result = {1: "a", "1": "b", None: "c", "null": "d", True: "e", (1, 2): "f", 1.5: "g", Key(): "h", Key(): "i", frozenset([1]): "j", b"x": "k", "__proto__": {}, "": 0}
