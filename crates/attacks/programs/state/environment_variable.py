# attack: set variables for the next program
# expect: ok
# forbid: PWNED
# twice: yes
import os
import sys

if "LEFT_BEHIND" in os.environ or getattr(sys.flags, "left", None):
    print("PW" + "NED:", os.environ["LEFT_BEHIND"])
os.environ["LEFT_BEHIND"] = "x"
os.environ["PYTHONSTARTUP"] = "/workspace/left.py"
try:
    os.putenv("LEFT_BEHIND", "x")
    os.chdir("/")
except Exception as error:
    print(type(error).__name__)
