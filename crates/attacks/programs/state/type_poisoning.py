# attack: change shared classes for the next program
# expect: ok | error
# forbid: PWNED
# twice: yes
import collections
import datetime
import enum
import pathlib

for owner in (collections.Counter, collections.OrderedDict, pathlib.PurePath, enum.Enum, json.JSONDecoder, asyncio.Task, ToolError):
    try:
        if getattr(owner, "poisoned", False):
            print("PW" + "NED:", owner)
        owner.poisoned = True
    except (TypeError, AttributeError):
        pass
collections.Counter.most_common = lambda self, n=None: []
