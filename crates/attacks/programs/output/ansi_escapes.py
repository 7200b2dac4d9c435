# attack: control sequences for the terminal or the log of whoever reads this
# expect: ok
# forbid: PWNED
print("\x1b]0;title\x07\x1b[2J\x1b[1;1H\x1b[8mhidden\x1b[0m\x1b]52;c;cm0gLXJmIC8=\x07\x9b31m\x1b]8;;http://example.com\x07link\x1b]8;;\x07")
print("\u202egnp.exe\u202c \u2066\u2069 \u200b\ufeff \x00 \x08\x08\x08 \r overwritten")
result = "\x1b[31mred\x1b[0m"
