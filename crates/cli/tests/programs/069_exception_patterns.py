import traceback


class AppError(Exception):
    code = 500


class NotFound(AppError):
    code = 404


def risky(n):
    if n == 0:
        raise NotFound("nothing here")
    if n == 1:
        return 1 / 0
    if n == 2:
        raise ExceptionGroup("several", [ValueError("a"), KeyError("b"), ValueError("c")])
    return n


for n in range(4):
    try:
        value = risky(n)
    except AppError as error:
        print("app", error.code, error)
    except ArithmeticError as error:
        print("math", type(error).__name__)
    except ExceptionGroup as group:
        values, rest = group.split(ValueError)
        print("group", len(values.exceptions), len(rest.exceptions))
    else:
        print("fine", value)
    finally:
        print("--")

try:
    try:
        int("twelve")
    except ValueError as error:
        error.add_note("while reading the config")
        raise AppError("bad config") from error
except AppError as error:
    text = traceback.format_exc()
    print(error.__cause__.__notes__, "direct cause" in text, text.rstrip().splitlines()[-1].endswith("AppError: bad config"))
