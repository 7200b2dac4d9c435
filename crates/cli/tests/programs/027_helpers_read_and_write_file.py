write_file("notes.txt", "first line\nsecond line — with a dash\n")
text = read_file("notes.txt")
write_file("upper.txt", text.upper())
result = {
    "lines": text.splitlines(),
    "upper": read_file("upper.txt"),
    "listed": [name in list_directory(".") for name in ("notes.txt", "upper.txt", "absent.txt")],
}
