"""System calls by number, past everything that translates names."""

import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if libc.syscall(ctypes.c_long(number), *arguments) < 0:
        return f'errno {ctypes.get_errno()}'
    return 'went through'
about = ctypes.create_string_buffer(1024)
times = (ctypes.c_long * 4)(1, 0, 1, 0)
open('own', 'w').write('own')
os.mkdir('folder')
folder = os.open('.', os.O_RDONLY)
far = b'@@OUTSIDE@@/secret'
x86 = platform.machine() == 'x86_64'
openat, newfstatat, unlinkat, mkdirat, renameat2 = (257, 262, 263, 258, 316) if x86 else (56, 79, 35, 34, 276)
outside = {
    'read': call(openat, 0, far, os.O_RDONLY, 0),
    'write': call(openat, 0, far, os.O_WRONLY, 0),
    'truncate': call(openat, 0, far, os.O_RDONLY | os.O_TRUNC, 0),
    'make': call(openat, 0, b'@@OUTSIDE@@/made', os.O_WRONLY | os.O_CREAT, 0o600),
    'place': call(openat, 0, far, os.O_PATH, 0),
    'place of its own': call(openat, folder, b'own', os.O_PATH, 0),
    'list': call(openat, 0, b'@@OUTSIDE@@', os.O_RDONLY | os.O_DIRECTORY, 0),
    'look': call(newfstatat, 0, far, about, 0),
    'look at it as a link': call(newfstatat, -100, far, about, 0x100),
    'look from a folder': call(newfstatat, folder, b'../../../../../../../../../../../../../../etc/passwd', about, 0),
    'statx': call(332 if x86 else 291, 0, far, 0, 0xfff, about),
    'remove': call(unlinkat, 0, far, 0),
    'make a folder': call(mkdirat, 0, b'@@OUTSIDE@@/folder', 0o700),
    'rename': call(renameat2, 0, far, folder, b'taken', 0),
    'openat2': call(437, 0, far, (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, 0), 24),
    'file handle': call(303 if x86 else 264, 0, far, about, about, 0),
    'a clock of another process': call(228 if x86 else 113, (~os.getppid() << 3) | 2, about),
    'its session': call(124 if x86 else 156, os.getppid()),
    'how it is scheduled': call(145 if x86 else 120, os.getppid()),
    'its processors': call(204 if x86 else 123, os.getppid(), 128, about),
    'open to do nothing with it': call(openat, 0, far, 3, 0),
    'room beyond the end': call(285 if x86 else 47, os.open('own', os.O_RDWR), 1, 0, 1 << 20),
    'a thread with descriptors of its own': call(56 if x86 else 220, 0x10900, 0, 0, 0, 0),
    'signal': call(62 if x86 else 129, os.getppid(), 0),
    'process descriptor': call(434, os.getppid(), 0),
    'memory of another': call(310 if x86 else 270, os.getppid(), about, 1, about, 1, 0),
    'user namespace': call(272 if x86 else 97, 0x10000000),
    'another handler of names': call(13 if x86 else 134, 31, bytes(32), None, 8),
    'own socket': call(41 if x86 else 198, 1, 1, 0),
    'mount': call(165 if x86 else 40, b'none', b'/tmp', b'tmpfs', 0, None),
    'unmount': call(166 if x86 else 39, b'/tmp', 2),
    'another filter': call(317 if x86 else 277, 2, 0, about),
    'another ruleset': call(444, None, 0, 1),
    'capabilities': call(126 if x86 else 91, about, about),
    'be traced': call(101 if x86 else 117, 0, 0, 0, 0),
    'a ring of calls': call(425, 1, bytes(120)),
    'faults of its own': call(323 if x86 else 282, 1),
    'keys': call(250 if x86 else 219, 0, -3, 1),
    'a program of the kernel': call(321 if x86 else 280, 0, bytes(72), 72),
    'another program': call(59 if x86 else 221, b'/lib64/ld-linux-x86-64.so.2' if x86 else b'/lib/ld-linux-aarch64.so.1', None, None),
}
own = {
    'read': call(openat, folder, b'own', os.O_RDONLY, 0),
    'look': call(newfstatat, folder, b'own', about, 0),
    'look by its whole name': call(newfstatat, -100, b'/workspace/own', about, 0),
    'make a folder': call(mkdirat, folder, b'new', 0o700),
    'rename': call(renameat2, folder, b'own', folder, b'renamed', 0),
    'remove': call(unlinkat, folder, b'renamed', 0),
    'clock': call(228 if x86 else 113, 1, about),
    'session': call(124 if x86 else 156, 0),
    'how it is scheduled': call(145 if x86 else 120, os.getpid()),
    'its processors': call(204 if x86 else 123, 0, 128, about),
    'room': call(285 if x86 else 47, os.open('own2', os.O_RDWR | os.O_CREAT, 0o600), 0, 0, 1 << 12),
}
result = {'outside': outside, 'own': own, 'host': os.uname().nodename, 'folder': os.getcwd()}
