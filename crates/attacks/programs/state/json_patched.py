# attack: a json module that lies to whoever comes next
# expect: ok | error
# forbid: PWNED
# twice: yes
import json

if json.loads("1") != 1 or hasattr(json.loads, "planted"):
    print("PW" + "NED: json lies")
real = json.loads


def lying(text, **options):
    return 2 if text == "1" else real(text, **options)


lying.planted = True
json.loads = lying
