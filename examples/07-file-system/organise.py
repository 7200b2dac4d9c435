from pathlib import Path
from servers.filesystem import read_file as read_remote, search_files

# Files of a server come into the workspace, sorted by what they are.
for match in (await search_files(pattern="notes/**/*.md"))["matches"]:
    answer = await read_remote(path=match["path"])
    title = answer["text"].splitlines()[0].lstrip("# ").lower()
    write_file(f"by-title/{title}.md", answer["text"])

# All of Python's own ways to files work.
folder = Path("by-title")
(folder / "june.md").rename(folder / "2026-06.md")
(folder / "index.txt").write_text("\n".join(sorted(path.stem for path in folder.glob("*.md"))) + "\n")
words = sum(len(path.read_text().split()) for path in folder.glob("*.md"))
print(", ".join(list_directory("by-title")))
print(read_file("handed-in.txt").strip())
result = f"{words} words in {len(list(folder.glob('*.md')))} notes"
