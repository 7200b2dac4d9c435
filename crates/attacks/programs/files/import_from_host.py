# attack: import code from a folder of the host
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import importlib.machinery
import importlib.util
import os
import runpy
import sys

folder = os.path.dirname("@@CANARY@@")
sys.path[:0] = [folder, "@@OTHER_WORKSPACE@@", "/usr/lib/python3", ".."]
loader = importlib.machinery.SourceFileLoader("stolen", "@@CANARY@@")
for action in (
    lambda: loader.get_data("@@CANARY@@"),
    lambda: loader.get_source("stolen"),
    lambda: runpy.run_path("@@CANARY@@"),
    lambda: importlib.util.spec_from_file_location("stolen", "@@CANARY@@").loader.get_data("@@CANARY@@"),
    lambda: list(importlib.machinery.FileFinder(folder)._path_cache) or os.listdir(folder),
):
    try:
        print("PW" + "NED:", action())
    except Exception as error:
        print(type(error).__name__)
