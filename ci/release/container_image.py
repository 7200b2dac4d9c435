"""The container image of a release: the one of the Dockerfile, with everyone's licenses in it."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import product as names

BUILD_SECONDS_MAX = 3600


def is_available():
    if shutil.which("docker") is None:
        return False
    asked = subprocess.run(["docker", "info"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return asked.returncode == 0


def name(product):
    return f"gristmill:{product.version}"


def file_name(product):
    return f"gristmill-{product.version}-image.tar"


def make(folder, product, documents):
    """Builds and tries the image, and saves it. Unlike the archives, its bytes differ from run to run."""
    if not is_available():
        print("NOT MADE: the container image: docker isn't here, or doesn't answer")
        return
    _run([names.ROOT / "ci" / "docker_build.sh"])
    with tempfile.TemporaryDirectory() as place:
        context = Path(place)
        for path, data in documents.items():
            (context / "doc" / path).parent.mkdir(parents=True, exist_ok=True)
            (context / "doc" / path).write_bytes(data)
        (context / "Dockerfile").write_text("FROM gristmill-ci\nCOPY doc/ /usr/local/share/doc/gristmill/\n")
        _run(["docker", "build", "--tag", name(product), context])
    _run(["docker", "save", "--output", folder / file_name(product), name(product)])


def _run(command):
    done = subprocess.run(
        [str(word) for word in command], stdin=subprocess.DEVNULL, timeout=BUILD_SECONDS_MAX, check=False
    )
    if done.returncode != 0:
        raise names.CannotRelease(f"{' '.join(map(str, command[:2]))} ended with code {done.returncode}")
