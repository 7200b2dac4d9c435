# attack: text that UTF-8 does not have
# expect: ok | error
# forbid: PWNED
result = {"\ud800": "\udfff", "pair": "\ud83d\ude00", "bytes": b"\xff\xfe", "nul": "\0", "separator": "\u2028"}
