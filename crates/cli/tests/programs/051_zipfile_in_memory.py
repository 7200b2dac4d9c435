import io
import zipfile

buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("readme.txt", "hello " * 100)
    archive.writestr("data/values.json", json.dumps(list(range(50))))

with zipfile.ZipFile(io.BytesIO(buffer.getvalue())) as archive:
    bad = archive.testzip()
    for info in archive.infolist():
        print(info.filename, info.file_size, info.compress_size < info.file_size)
    print(sum(json.loads(archive.read("data/values.json"))), bad)
