from servers.filesystem import read_file, search_files
result = []
for name in ("plan.md", "ideas.md"):
    found = await search_files(pattern=name)
    result.append((await read_file(path=found["matches"][0]["path"], limit=5))["text"])
