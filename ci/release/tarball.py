"""The archive for everyone: unpacked into /usr/local or any other folder, everything is in its place."""

import archives
from archives import File
from contents import SHELLS


def name(product, target):
    return f"gristmill-{product.version}-{target.platform.label}.tar.gz"


def build(product, target, contents):
    files = [contents.executable("bin/gristmill")]
    files += [File(f"share/man/man1/{page}", text) for page, text in contents.manuals.items()]
    files += [File(f"share/{SHELLS[shell]}", script) for shell, script in contents.completions.items()]
    files += contents.documents_in("share/doc/gristmill")
    return archives.tar_gz(files, product.epoch, f"gristmill-{product.version}-{target.platform.label}/")
