# attack: open devices, or make new ones
# expect: ok
# forbid: PWNED
import os

for path in ("/dev/zero", "/dev/mem", "/dev/kmsg", "/dev/tty", "/dev/sda", "/dev/fuse", "/dev/kvm", "/dev/shm/x", "/dev/ptmx", "/dev/fd/3"):
    try:
        with open(path, "rb", buffering=0) as f:
            print("PW" + "NED:", path, f.read(16))
    except Exception as error:
        print(path, type(error).__name__)
for make in (
    lambda: os.mknod("node", 0o20666, os.makedev(1, 5)),
    lambda: os.mkfifo("pipe"),
    lambda: os.chroot("."),
):
    try:
        make()
        print("PW" + "NED: made")
    except Exception as error:
        print(type(error).__name__)
