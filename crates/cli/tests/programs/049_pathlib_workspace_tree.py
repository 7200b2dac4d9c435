from pathlib import Path

root = Path("project")
for name, text in {
    "src/app.py": "print('hi')\n",
    "src/lib/util.py": "X = 1\nY = 2\n",
    "docs/readme.md": "# Title\n\nBody\n",
    "data/empty.bin": "",
}.items():
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)

for path in sorted(root.rglob("*")):
    relative = path.relative_to(root)
    print(f"{'  ' * (len(relative.parts) - 1)}{path.name}{'/' if path.is_dir() else f' ({path.stat().st_size} B)'}")
lines = {p.suffix: 0 for p in root.rglob("*.*")}
for p in root.rglob("*.*"):
    lines[p.suffix] += len(p.read_text().splitlines())
print(dict(sorted(lines.items())))
(root / "data/empty.bin").unlink()
(root / "data").rmdir()
print((root / "data").exists(), root.joinpath("src").is_dir())
