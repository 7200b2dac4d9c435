import re

text = "Contact: ann@example.com, bob.smith@mail.example.org; tel +33 4 72 00 11 22, ref #A-17 and #B-204."
print(re.findall(r"[\w.]+@[\w.]+\.\w+", text))
print(re.sub(r"#([A-Z])-(\d+)", lambda m: f"#{m[1]}{int(m[2]):04d}", text)[-24:])
print(re.split(r"\s*[;,]\s*", "a, b;c ,d"))
print([m.span() for m in re.finditer(r"\b\d{2}\b", text)])
print(re.sub(r"(?<=\d)(?=(\d{3})+$)", ",", "1234567"))
pattern = re.compile(
    r"""
    (?P<year>\d{4}) - (?P<month>0[1-9]|1[0-2])   # year and month
    (?: - (?P<day>\d\d) )?                        # maybe a day
    """,
    re.VERBOSE,
)
for candidate in ("2026-05-17", "2026-11", "2026-13"):
    match = pattern.fullmatch(candidate)
    print(candidate, match.groupdict() if match else None)
print(re.escape("1.5*x"), bool(re.match(r"(?i)HELLO", "hello")), re.fullmatch(r"(a+)(b*?)", "aab").groups())
