# attack: read what every system has in the same place
# expect: ok
# forbid: CANARY-7f3a
# forbid: PWNED
import os

for path in (
    "/etc/passwd", "/etc/shadow", "/etc/hosts", "/etc/hostname", "/etc/machine-id", "/root/.ssh/id_rsa", "/root/.bash_history",
    "/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets", "/sys/class/net", "/boot", "/home",
    "~/.aws/credentials", "C:\\Windows\\win.ini", "\\\\.\\PhysicalDrive0", "//localhost/c$/x", "file:///etc/passwd",
):
    for action in (lambda p: open(p).read(200), os.listdir, read_file, list_directory):
        try:
            found = action(os.path.expanduser(path))
        except Exception:
            continue
        if found:
            print("PW" + "NED:", path, found)
print("done")
