"""Archives whose bytes depend on nothing but what is in them: sorted, of user 0, with one time for all."""

import gzip
import io
import tarfile
import time
import zipfile
from typing import NamedTuple

# Engines inside the binary are compressed already: more effort brings next to nothing.
GZIP_LEVEL = 6
# What ZIP can say.
ZIP_EPOCH_MIN = 315_532_800


class File(NamedTuple):
    """One file of an archive, at a path with `/`."""

    path: str
    data: bytes
    mode: int = 0o644


def gzipped(data, level=GZIP_LEVEL):
    return gzip.compress(data, level, mtime=0)


def tar(files, epoch, prefix=""):
    """A tar archive. With a prefix that ends in `/`, every folder has an entry of its own, as dpkg wants it."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.GNU_FORMAT) as archive:
        if prefix:
            for folder in sorted(folders(files)):
                archive.addfile(_about(prefix + folder, 0o755, epoch, tarfile.DIRTYPE))
        for file in sorted(files):
            about = _about(prefix + file.path, file.mode, epoch, tarfile.REGTYPE)
            about.size = len(file.data)
            archive.addfile(about, io.BytesIO(file.data))
    return written.getvalue()


def tar_gz(files, epoch, prefix=""):
    return gzipped(tar(files, epoch, prefix))


def folders(files):
    """Every folder above the files, with a slash at its end; the top is the empty text."""
    found = {""}
    for file in files:
        parts = file.path.split("/")[:-1]
        found.update("/".join(parts[: count + 1]) + "/" for count in range(len(parts)))
    return found


def zipped(files, epoch, first=()):
    """A ZIP archive; files named in `first` come before all others."""
    date = time.gmtime(max(epoch, ZIP_EPOCH_MIN))[:6]
    order = {path: place for place, path in enumerate(first)}
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for file in sorted(files, key=lambda file: (order.get(file.path, len(order)), file.path)):
            about = zipfile.ZipInfo(file.path, date)
            about.create_system = 3
            about.external_attr = (0o100000 | file.mode) << 16
            archive.writestr(about, file.data, zipfile.ZIP_DEFLATED, GZIP_LEVEL)
    return written.getvalue()


def ar(members, epoch):
    """An `ar` archive of (name, bytes) in their order, in the common format."""
    written = [b"!<arch>\n"]
    for name, data in members:
        if len(name) > 16:
            raise ValueError(f"{name} is too long for an ar archive")
        head = f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n"
        written += [head.encode("ascii"), data, b"\n" if len(data) % 2 else b""]
    return b"".join(written)


def _about(path, mode, epoch, kind):
    about = tarfile.TarInfo(path)
    about.type, about.mode, about.mtime = kind, mode, epoch
    about.uid = about.gid = 0
    about.uname = about.gname = "root"
    return about
