import fnmatch
import glob
import os
import shutil

os.makedirs("in/nested")
for name in ("a.txt", "b.md", "nested/c.txt", "nested/d.txt"):
    with open(os.path.join("in", name), "w") as f:
        f.write(name * 3)
shutil.copytree("in", "out")
shutil.copy("in/a.txt", "out/z.txt")
shutil.move("out/b.md", "out/nested/b.md")
print(sorted(p.replace(os.sep, "/") for p in glob.glob("out/**/*.*", recursive=True)))
print(fnmatch.filter(sorted(os.listdir("out/nested")), "[!b]*.txt"))
print([(root, sorted(folders), sorted(files)) for root, folders, files in sorted(os.walk("out"))])
shutil.rmtree("out")
print(os.path.isdir("out"), os.path.splitext("in/a.tar.gz"), os.path.normpath("in/../in/./a.txt"))
