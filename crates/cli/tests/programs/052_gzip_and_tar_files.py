import gzip
import io
import tarfile
import zlib

text = "\n".join(f"line {n}" for n in range(1000)).encode()
with gzip.open("log.gz", "wb") as f:
    f.write(text)
with gzip.open("log.gz", "rt") as f:
    last = f.read().splitlines()[-1]

archive = io.BytesIO()
with tarfile.open(fileobj=archive, mode="w:gz") as tar:
    for name, body in (("a.txt", b"alpha"), ("dir/b.txt", b"beta")):
        info = tarfile.TarInfo(name)
        info.size = len(body)
        tar.addfile(info, io.BytesIO(body))
archive.seek(0)
with tarfile.open(fileobj=archive) as tar:
    members = {m.name: tar.extractfile(m).read().decode() for m in tar}

{"last": last, "members": members, "crc": zlib.crc32(b"gristmill"), "smaller": len(zlib.compress(text)) < len(text)}
