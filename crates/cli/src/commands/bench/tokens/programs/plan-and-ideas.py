from servers.filesystem import read_file, search_files
found = await search_files(pattern="notes/*.md")
texts = [(await read_file(path=file["path"]))["text"] for file in found["matches"]]
result = [text.splitlines()[2] for text in texts]
