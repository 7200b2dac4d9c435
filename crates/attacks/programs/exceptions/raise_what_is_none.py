# attack: raise things that are no exceptions, and classes that refuse to be made
# expect: error
# forbid: PWNED
class Refuses(Exception):
    def __new__(cls, *arguments):
        return 42


for thing in (42, "text", None, object, int, type, Refuses):
    try:
        raise thing
    except TypeError as error:
        print("refused")
raise Refuses
