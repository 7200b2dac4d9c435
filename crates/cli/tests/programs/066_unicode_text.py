import unicodedata

samples = ["café", "cafe\u0301", "ﬁne", "STRASSE", "straße", "Ⅷ", "مرحبا", "👩‍🔬"]
rows = [
    {
        "text": s,
        "length": len(s),
        "bytes": len(s.encode("utf-8")),
        "nfc": len(unicodedata.normalize("NFC", s)),
        "nfkd": unicodedata.normalize("NFKD", s),
        "fold": s.casefold(),
    }
    for s in samples
]
plain = "".join(c for c in unicodedata.normalize("NFKD", "Čeština à Zürich") if not unicodedata.combining(c))
result = {
    "rows": rows,
    "plain": plain,
    "names": [unicodedata.name(c) for c in "é€"],
    "same": "straße".casefold() == "STRASSE".casefold(),
    "replaced": "naïve €5".encode("ascii", "replace"),
    "escaped": "naïve €5".encode("ascii", "xmlcharrefreplace"),
}
