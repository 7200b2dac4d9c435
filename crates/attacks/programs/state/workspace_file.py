# attack: leave a file in the workspace for another session
# expect: ok
# forbid: PWNED
# twice: yes
import os

if os.listdir("."):
    print("PW" + "NED: the workspace was not empty", os.listdir("."))
for name in ("left.txt", ".hidden", "sitecustomize.py", "json.py", "usercustomize.py", "left.pth"):
    with open(name, "w") as f:
        f.write("print('left by the last program')\n")
