import os
from pathlib import Path

outcomes = {}


def attempt(label, action):
    try:
        action()
        outcomes[label] = "ok"
    except OSError as error:
        outcomes[label] = type(error).__name__


Path("folder").mkdir()
Path("folder/file.txt").write_text("x")
attempt("missing", lambda: open("absent.txt"))
attempt("is a folder", lambda: open("folder", "w"))
attempt("exists", lambda: os.mkdir("folder"))
attempt("exclusive", lambda: open("folder/file.txt", "x"))
attempt("not a folder", lambda: os.listdir("folder/file.txt"))
attempt("append", lambda: open("folder/file.txt", "a").close())
attempt("replace", lambda: os.replace("folder/file.txt", "moved.txt"))
attempt("remove missing", lambda: os.remove("folder/file.txt"))
attempt("remove folder", lambda: os.rmdir("folder"))
outcomes
