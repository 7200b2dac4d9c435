import os
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "part.txt")
    path.write_text("a\nb\nc\n")
    inside = path.exists()
    lines = path.read_text().split()
outside = os.path.exists(folder)
with tempfile.NamedTemporaryFile("w+", suffix=".csv") as f:
    f.write("x,y\n1,2\n")
    f.seek(0)
    content = f.read()
    name_ok = f.name.endswith(".csv")
result = {"inside": inside, "after": outside, "lines": lines, "content": content, "suffix": name_ok}
