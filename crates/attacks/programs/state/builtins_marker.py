# attack: leave a name in builtins for the next program
# expect: ok
# forbid: PWNED
# twice: yes
import builtins
import os
import sys

for place in (builtins, sys, os, type(os), asyncio, json):
    if getattr(place, "left_behind", None):
        print("PW" + "NED:", place)
    try:
        place.left_behind = "@@NONCE@@"
    except (AttributeError, TypeError):
        pass
