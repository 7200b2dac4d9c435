# attack: print text that cannot be encoded
# expect: ok | error
# forbid: PWNED
print("\ud800\udfff \udcff")
print("next line")
