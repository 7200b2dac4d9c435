from contextlib import ExitStack, contextmanager, suppress

log = []


class Timer:
    def __enter__(self):
        log.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        log.append(kind.__name__ if kind else "clean")
        return kind is KeyError


@contextmanager
def tag(name):
    log.append(f"<{name}>")
    yield name.upper()
    log.append(f"</{name}>")


with Timer():
    pass
with Timer():
    {}["missing"]
with ExitStack() as stack:
    names = [stack.enter_context(tag(n)) for n in ("html", "body")]
    log.append("+".join(names))
with suppress(ZeroDivisionError):
    1 / 0
log
