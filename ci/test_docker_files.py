import shutil
import tempfile
import unittest
from pathlib import Path

from docker_files import ROOT, complaints

FILES = ("Dockerfile", ".dockerignore", "compose.yaml", "Cargo.toml", "Cargo.lock")


class DockerFiles(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for name in FILES:
            shutil.copy(ROOT / name, self.root / name)
        shutil.copytree(ROOT / "packaging", self.root / "packaging")
        for name in (".cargo", "crates", "guests"):
            (self.root / name).mkdir()
        shutil.copytree(ROOT / "crates/encoder/weights", self.root / "crates/encoder/weights")

    def check(self, name, old, new, expected):
        """What is said about a file in which something was replaced."""
        path = self.root / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))
        self.assertIn(expected, list(complaints(self.root)))

    def test_as_they_are_there_is_nothing_to_say(self):
        self.assertEqual(list(complaints(self.root)), [])

    def test_a_container_that_runs_as_root(self):
        self.check("Dockerfile", "USER 10001:10001\n", "", "the container runs as root")

    def test_folders_of_another_user(self):
        said = "install.sh makes folders for another user than 999"
        self.check("Dockerfile", "USER 10001:10001", "USER 999:999", said)

    def test_another_rust(self):
        said = "the first image isn't of Rust 1.95, which Cargo.toml asks for"
        self.check("Dockerfile", "rust:1.95-", "rust:1.80-", said)

    def test_an_image_without_a_version(self):
        self.check("Dockerfile", "debian:bookworm-slim", "debian:latest", "debian:latest has no version")

    def test_a_step_that_is_not_there(self):
        self.check("Dockerfile", "install.sh", "instal.sh", "packaging/docker/instal.sh isn't there")

    def test_what_the_build_needs_is_left_out(self):
        self.check(".dockerignore", "target\n", "target\ncrates\n", "the build needs crates")

    def test_a_port_that_everyone_reaches(self):
        said = "compose.yaml doesn't publish port 8770 on this machine alone"
        self.check("compose.yaml", "127.0.0.1:8770:8770", "8770:8770", said)

    def test_a_container_with_more_than_it_needs(self):
        said = "compose.yaml gives the container more than it needs"
        self.check("compose.yaml", "init: true", "init: true\n    privileged: true", said)
