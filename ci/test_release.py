"""The release's archives, on a tiny binary: what is in them, and that two runs make the same bytes."""

import base64
import csv
import gzip
import hashlib
import io
import json
import platform
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "release"))

import archives
import contents
import elf
import product as names
import release
import reproduced
import signing
from contents import Contents

PRODUCT = names.Product("1.2.3", "https://example.org/gristmill", 1_700_000_000)


def tiny_binary(libraries=("libc.so.6",), versions=("GLIBC_2.31", "GLIBC_2.2.5"), machine=62):
    """An ELF file with nothing but a dynamic section and the versions that it asks of the first library."""
    texts = b"\0"
    places = {}
    for name in (*libraries, *versions):
        places[name] = len(texts)
        texts += name.encode() + b"\0"
    entries_at = 64 + 2 * 56
    needed = [(elf.DT_NEEDED, places[name]) for name in libraries]
    dynamic_size = 16 * (len(needed) + 5)
    texts_at = entries_at + dynamic_size
    versions_at = texts_at + len(texts)
    table = struct.pack("<HHIII", 1, len(versions), places[libraries[0]], 16, 0)
    for index, name in enumerate(versions):
        following = 16 if index + 1 < len(versions) else 0
        table += struct.pack("<IHHII", 0, 0, index + 2, places[name], following)
    tags = [*needed, (5, texts_at), (10, len(texts)), (elf.DT_VERNEED, versions_at), (elf.DT_VERNEEDNUM, 1), (0, 0)]
    dynamic = b"".join(struct.pack("<QQ", *tag) for tag in tags)
    size = versions_at + len(table)
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    programs = struct.pack("<IIQQQQQQ", elf.PT_LOAD, 5, 0, 0, 0, size, size, 4096)
    programs += struct.pack("<IIQQQQQQ", elf.PT_DYNAMIC, 6, entries_at, entries_at, 0, dynamic_size, dynamic_size, 8)
    return head + programs + dynamic + texts + table


def inside(binary=None):
    documents = {
        "README.md": b"read\n",
        "CHANGELOG.md": b"# Changelog\n",
        "LICENSE-MIT": b"mit\n",
        "LICENSE-APACHE": b"apache\n",
        "THIRD-PARTY-LICENSES.txt": b"others\n",
        "gristmill.cdx.json": b"{}\n",
        "encoder-weights/LICENSE": b"weights\n",
        "encoder-weights/NOTICE": b"notice\n",
    }
    completions = {shell: shell.encode() for shell in ("bash", "zsh", "fish")}
    return Contents(binary or tiny_binary(), completions, {"gristmill.1": b".TH gristmill 1\n"}, documents)


def made():
    contents = inside()
    return release.make(PRODUCT, names.target_of(contents.binary), contents, {"linux-x64"})


class Binaries(unittest.TestCase):
    def test_the_oldest_system_is_that_of_the_newest_symbol(self):
        check = lambda versions, expected: self.assertEqual(
            names.target_of(tiny_binary(versions=versions)).manylinux, expected
        )
        check(("GLIBC_2.31", "GLIBC_2.4"), "manylinux_2_31_x86_64")
        check(("GLIBC_2.9", "GLIBC_2.34"), "manylinux_2_34_x86_64")
        # Nothing older than what is promised, and no comparison of texts.
        check(("GLIBC_2.2.5",), "manylinux_2_17_x86_64")
        self.assertEqual(names.target_of(tiny_binary(machine=183)).platform.label, "linux-arm64")

    def test_what_not_every_system_has_is_refused(self):
        for binary in (
            tiny_binary(libraries=("libc.so.6", "libssl.so.3")),
            tiny_binary(versions=("GCC_14.0.0",)),
            tiny_binary(machine=8),
            b"#!/bin/sh\n",
        ):
            with self.assertRaises(names.CannotRelease):
                names.target_of(binary)

    def test_a_binary_that_is_cut_off_is_refused_wherever_it_ends(self):
        binary = tiny_binary()
        for length in range(4, len(binary) - 1, 7):
            with self.assertRaises(elf.NotElf):
                elf.needs(binary[:length])

    def test_differences_of_two_builds_are_named(self):
        self.assertEqual(list(reproduced.differences(b"same", b"same")), [])
        with open("/proc/self/exe", "rb") as file:
            one = file.read()
        name, data = max(elf.sections(one).items(), key=lambda section: len(section[1]))
        other = bytearray(one)
        other[one.index(data) + len(data) // 2] ^= 1
        [line] = reproduced.differences(one, bytes(other))
        self.assertEqual(line, f"section {name}: {len(data):,} and {len(data):,} bytes, 1 differ")


class Features(unittest.TestCase):
    def test_a_release_has_every_feature_that_a_plain_build_leaves_out(self):
        manifest = (names.ROOT / "crates" / "cli" / "Cargo.toml").read_text(encoding="utf-8")
        [listed] = re.findall(r"^\[features\]\n(.*?)^\[", manifest, re.MULTILINE | re.DOTALL)
        known = re.findall(r"^([\w-]+) = ", listed, re.MULTILINE)
        self.assertNotIn("default", known)
        self.assertEqual(known, list(names.FEATURES))
        self.assertEqual(set(contents.HAS_FEATURE), set(names.FEATURES))

    def test_every_build_of_a_release_has_them(self):
        wanted = f"--package gristmill-cli --features {','.join(names.FEATURES)}"
        for script in ("packaging/docker/build.sh", "ci/long"):
            builds = re.findall(r"^ *(cargo build --release .*)$", (names.ROOT / script).read_text(), re.MULTILINE)
            self.assertEqual([build for build in builds if wanted not in build], [], script)
            self.assertTrue(builds, script)
        # Whoever else builds a release calls that script.
        for caller in ("Dockerfile", "ci/release.py", "ci/release/reproduced.py"):
            self.assertRegex((names.ROOT / caller).read_text(), r"build\.sh", caller)

    def binary(self, folder, status):
        """What a release asks a binary for, as a script."""
        script = Path(folder) / "gristmill"
        page = 'echo ".TH gristmill 1" > "$3/gristmill.1"'
        script.write_text(
            f'#!/bin/sh\ncase "$1" in\n--version) echo "gristmill 1.2.3" ;;\n'
            f"man) {page} ;;\ncluster) {status} ;;\nesac\n"
        )
        script.chmod(0o755)
        return script

    def test_a_binary_without_one_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            has = self.binary(folder, 'echo "error: this machine is in no cluster" >&2; exit 2')
            self.assertEqual(contents.asked(has, "1.2.3")[1], {"gristmill.1": b".TH gristmill 1\n"})
            for status in (
                'echo "error: this build has no cluster support; build it" >&2; exit 2',
                'echo "error: unrecognized subcommand" >&2; exit 2',
                "exit 0",
            ):
                with self.assertRaisesRegex(names.CannotRelease, "without cluster, .*--features cluster"):
                    contents.asked(self.binary(folder, status), "1.2.3")


class Archives(unittest.TestCase):
    def test_two_runs_make_the_same_bytes(self):
        self.assertEqual(made(), made())

    def test_the_time_and_the_owner_are_those_of_the_commit_and_root(self):
        files = made()
        with tarfile.open(fileobj=io.BytesIO(files["gristmill-1.2.3-linux-x64.tar.gz"])) as archive:
            entries = archive.getmembers()
            self.assertEqual({(entry.uid, entry.gid, entry.mtime) for entry in entries}, {(0, 0, PRODUCT.epoch)})
            listed = [entry.name for entry in entries]
            self.assertEqual(
                listed, [*sorted(e.name for e in entries if e.isdir()), *sorted(e.name for e in entries if e.isfile())]
            )
            self.assertEqual(archive.getmember("gristmill-1.2.3-linux-x64/bin/gristmill").mode, 0o755)
            self.assertIn("gristmill-1.2.3-linux-x64/share/doc/gristmill/THIRD-PARTY-LICENSES.txt", listed)
        self.assertEqual(files["gristmill-1.2.3-linux-x64.tar.gz"][4:8], b"\0\0\0\0", "no time of the run")

    def test_an_ar_archive_has_even_members(self):
        archive = archives.ar([("a", b"odd"), ("b", b"even")], 7)
        self.assertEqual(len(archive), 8 + 60 + 4 + 60 + 4)
        self.assertEqual(archive[8 : 8 + 28], b"a".ljust(16) + b"7".ljust(12))
        with self.assertRaises(ValueError):
            archives.ar([("a name that is too long", b"")], 7)


class Wheels(unittest.TestCase):
    def test_the_record_has_every_file_with_its_hash(self):
        files = made()
        data = files["gristmill-1.2.3-py3-none-manylinux_2_31_x86_64.whl"]
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            self.assertEqual(archive.namelist()[-1], "gristmill-1.2.3.dist-info/RECORD")
            rows = list(csv.reader(archive.read("gristmill-1.2.3.dist-info/RECORD").decode().splitlines()))
            self.assertEqual(sorted(row[0] for row in rows), sorted(archive.namelist()))
            for path, digest, size in rows:
                if path.endswith("/RECORD"):
                    continue
                content = archive.read(path)
                wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, size), (f"sha256={wanted}", str(len(content))))
            script = archive.getinfo("gristmill-1.2.3.data/scripts/gristmill")
            self.assertEqual(script.external_attr >> 16, 0o100755)
            told = archive.read("gristmill-1.2.3.dist-info/WHEEL").decode()
            self.assertIn("Tag: py3-none-manylinux_2_31_x86_64\n", told)
            metadata = archive.read("gristmill-1.2.3.dist-info/METADATA").decode()
            self.assertIn(f"mcp-name: {names.MCP_NAME} ", metadata)
            for line in metadata.splitlines():
                if line.startswith("License-File: "):
                    archive.getinfo(f"gristmill-1.2.3.dist-info/licenses/{line.removeprefix('License-File: ')}")


class NpmPackages(unittest.TestCase):
    def package(self, name):
        with tarfile.open(fileobj=io.BytesIO(made()[name])) as archive:
            modes = {entry.name: entry.mode for entry in archive.getmembers()}
            return json.load(archive.extractfile("package/package.json")), modes

    def test_the_launcher_depends_on_the_binary_of_exactly_its_version(self):
        launcher, modes = self.package("gristmill-1.2.3.tgz")
        binary, binary_modes = self.package("gristmill-linux-x64-1.2.3.tgz")
        self.assertEqual(launcher["optionalDependencies"], {binary["name"]: binary["version"]})
        self.assertEqual((binary["os"], binary["cpu"], binary["libc"]), (["linux"], ["x64"], ["glibc"]))
        self.assertEqual(modes[f"package/{launcher['bin']['gristmill']}"], 0o755)
        self.assertEqual(binary_modes["package/bin/gristmill"], 0o755)
        self.assertEqual(launcher["mcpName"], names.MCP_NAME)

    @unittest.skipUnless(shutil.which("node"), "needs Node.js")
    def test_the_launcher_ends_as_the_binary_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            launcher = Path(folder) / "gristmill.js"
            launcher.write_bytes((names.ROOT / "packaging/npm/gristmill.js").read_bytes())
            alone = subprocess.run(["node", launcher], capture_output=True, text=True)
            self.assertEqual(alone.returncode, 4)
            self.assertIn("isn't installed", alone.stderr)
            machine = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
            binary = Path(folder) / f"node_modules/@gristmill/linux-{machine}/bin/gristmill"
            binary.parent.mkdir(parents=True)
            binary.write_text('#!/bin/sh\necho "$2"\nexit 3\n')
            binary.chmod(0o755)
            ran = subprocess.run(["node", launcher, "run", "a b"], capture_output=True, text=True)
            self.assertEqual((ran.returncode, ran.stdout), (3, "a b\n"))


class DebianPackages(unittest.TestCase):
    def members(self):
        data = made()["gristmill_1.2.3-1_amd64.deb"]
        found, at = {}, 8
        while at < len(data):
            head = data[at : at + 60].decode()
            size = int(head[48:58])
            found[head[:16].strip()] = data[at + 60 : at + 60 + size]
            at += 60 + size + size % 2
        return found

    def test_its_parts_come_in_the_order_that_dpkg_asks_for(self):
        members = self.members()
        self.assertEqual(list(members), ["debian-binary", "control.tar.gz", "data.tar.gz"])
        self.assertEqual(members["debian-binary"], b"2.0\n")

    def test_its_control_file_tells_what_is_needed_and_its_sums_fit(self):
        members = self.members()
        with tarfile.open(fileobj=io.BytesIO(members["control.tar.gz"])) as archive:
            control = archive.extractfile("./control").read().decode()
            sums = archive.extractfile("./md5sums").read().decode()
        self.assertIn("Depends: libc6 (>= 2.31), libgcc-s1\n", control)
        self.assertIn("Architecture: amd64\n", control)
        self.assertTrue(all(len(line) <= 80 for line in control.splitlines()), control)
        with tarfile.open(fileobj=io.BytesIO(members["data.tar.gz"])) as archive:
            self.assertIn("./usr/share/man", archive.getnames(), "folders have entries")
            for line in sums.splitlines():
                digest, path = line.split("  ")
                data = archive.extractfile(f"./{path}").read()
                self.assertEqual(hashlib.md5(data, usedforsecurity=False).hexdigest(), digest)
            manual = archive.extractfile("./usr/share/man/man1/gristmill.1.gz").read()
            self.assertEqual(gzip.decompress(manual), b".TH gristmill 1\n")
            terms = archive.extractfile("./usr/share/doc/gristmill/copyright").read().decode()
        self.assertIn("License: Expat\n Permission is hereby granted", terms)

    @unittest.skipUnless(shutil.which("dpkg-deb"), "needs dpkg-deb")
    def test_dpkg_reads_it(self):
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "a.deb"
            package.write_bytes(made()["gristmill_1.2.3-1_amd64.deb"])
            told = subprocess.run(["dpkg-deb", "--field", package, "Version"], capture_output=True, text=True)
            self.assertEqual(told.stdout, "1.2.3-1\n", told.stderr)


class ForMcp(unittest.TestCase):
    def test_the_bundle_starts_what_it_has(self):
        with zipfile.ZipFile(io.BytesIO(made()["gristmill-1.2.3-linux-x64.mcpb"])) as archive:
            self.assertEqual(archive.namelist()[0], "manifest.json")
            manifest = json.loads(archive.read("manifest.json"))
            for required in ("manifest_version", "name", "version", "description", "author", "server"):
                self.assertIn(required, manifest)
            server = manifest["server"]
            self.assertEqual(server["type"], "binary")
            self.assertEqual(archive.getinfo(server["entry_point"]).external_attr >> 16, 0o100755)
            self.assertEqual(server["mcp_config"]["command"], "${__dirname}/" + server["entry_point"])

    def test_the_description_for_registries_keeps_to_their_schema(self):
        files = made()
        told = json.loads(files["server.json"])
        self.assertRegex(told["name"], r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$")
        self.assertTrue(1 <= len(told["description"]) <= 100)
        bundle, *_ = told["packages"]
        self.assertEqual(bundle["fileSha256"], hashlib.sha256(files["gristmill-1.2.3-linux-x64.mcpb"]).hexdigest())
        for package in told["packages"]:
            self.assertLessEqual({"registryType", "identifier", "transport"}, set(package))
            self.assertNotIn("registryBaseUrl", package)
            self.assertEqual(package["version"], "1.2.3")


class Folders(unittest.TestCase):
    def test_an_earlier_release_is_replaced_and_anything_else_left_alone(self):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            release.write(folder, {"old": b"1"})
            release.finish(folder)
            release.write(folder, {"new": b"2"})
            release.finish(folder)
            self.assertEqual({path.name for path in folder.iterdir()}, {"new", signing.SUMS})
            self.assertEqual((folder / signing.SUMS).read_bytes(), signing.sums({"new": b"2"}))
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "mine").touch()
            with self.assertRaises(names.CannotRelease):
                release.write(Path(place), {"new": b"2"})

    @unittest.skipUnless(shutil.which("openssl"), "needs openssl")
    def test_a_key_from_outside_signs_the_hashes(self):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            key, public = folder / "key.pem", folder / "public.pem"
            run = lambda *words: subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
            run("genpkey", "-algorithm", "ed25519", "-out", str(key))
            run("pkey", "-in", str(key), "-pubout", "-out", str(public))
            (folder / signing.SUMS).write_bytes(signing.sums({"a": b"1"}))
            self.assertEqual(signing.sign(folder, str(key)), "SHA256SUMS.sig")
            verify = [
                "pkeyutl",
                "-verify",
                "-rawin",
                "-pubin",
                "-inkey",
                str(public),
                "-sigfile",
                "SHA256SUMS.sig",
                "-in",
            ]
            run(*verify, signing.SUMS)
            (folder / "other").write_bytes(signing.sums({"a": b"2"}))
            with self.assertRaises(subprocess.CalledProcessError):
                run(*verify, "other")

    def test_a_wrong_key_is_said_and_none_is_no_signature(self):
        with tempfile.TemporaryDirectory() as place:
            wrong = Path(place) / "key"
            wrong.write_text("hello")
            for key in (str(wrong), str(wrong) + ".gone"):
                with self.assertRaises(names.CannotRelease):
                    signing.sign(Path(place), key)
            self.assertIsNone(signing.sign(Path(place), ""))


class Hosts(unittest.TestCase):
    def test_no_file_of_a_release_listeda_package_registry(self):
        hosts = [
            part.encode()
            for part in ("npm" + "js.", "py" + "pi.org", "crates" + ".io", "docker" + ".io", "ghcr" + ".io")
        ]
        for name, data in made().items():
            texts = [data]
            if name.endswith((".whl", ".mcpb")):
                with zipfile.ZipFile(io.BytesIO(data)) as archive:
                    texts = [archive.read(path) for path in archive.namelist()]
            elif name.endswith(("gz", ".deb")):
                continue
            for text in texts:
                self.assertFalse([host for host in hosts if host in text], name)


if __name__ == "__main__":
    unittest.main()
