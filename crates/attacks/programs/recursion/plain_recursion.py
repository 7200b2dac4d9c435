# attack: recurse without end
# expect: error
# forbid: PWNED
def down(n):
    return down(n + 1) + 1


print("PW" + "NED:", down(0))
