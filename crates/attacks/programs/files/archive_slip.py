# attack: unpack archives whose members name places outside
# expect: ok | error
# forbid: CANARY-7f3a
# forbid: PWNED
import io
import os
import shutil
import tarfile
import zipfile

outside = "../../guest-@@NONCE@@"
packed = io.BytesIO()
with tarfile.open(fileobj=packed, mode="w") as tar:
    for name, kind, link in ((outside, tarfile.REGTYPE, ""), ("ln", tarfile.SYMTYPE, "@@CANARY@@"), ("hd", tarfile.LNKTYPE, "@@CANARY@@"), ("dv", tarfile.CHRTYPE, "")):
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, link
        tar.addfile(info)
packed.seek(0)
with tarfile.open(fileobj=packed) as tar:
    for member in tar.getmembers():
        try:
            tar.extract(member, filter="fully_trusted")
            print(member.name, open(member.name).read())
            if member.name == outside:
                print("PW" + "NED: tar")
        except Exception as error:
            print(member.name[:4], type(error).__name__)
with zipfile.ZipFile("slip.zip", "w") as archive:
    archive.writestr(outside, "x")
shutil.unpack_archive("slip.zip", "unpacked", "zip")
for name in (outside, "unpacked/" + outside):
    if os.path.exists(name):
        print("PW" + "NED: zip")
