import unittest

from licences import (
    NotAnExpression,
    crate_complaints,
    documented_licences,
    guest_complaints,
    is_satisfied,
    weights_complaints,
)


class Expressions(unittest.TestCase):
    def check(self, expression, expected):
        with self.subTest(expression):
            self.assertIs(is_satisfied(expression), expected)

    def test_one_licence(self):
        self.check("MIT", True)
        self.check("mit", True)
        self.check("GPL-3.0-only", False)
        self.check("LicenseRef-Ours", False)

    def test_or_needs_one_side(self):
        self.check("GPL-3.0-only OR MIT", True)
        self.check("MIT OR GPL-3.0-only", True)
        self.check("GPL-3.0-only OR AGPL-3.0-only", False)
        self.check("GPL-2.0 or MIT", True)

    def test_and_needs_both_sides(self):
        self.check("MIT AND Zlib", True)
        self.check("MIT AND OpenSSL", False)
        self.check("OpenSSL AND MIT", False)

    def test_and_binds_tighter_than_or(self):
        self.check("MIT OR ISC AND GPL-3.0-only", True)
        self.check("GPL-3.0-only AND ISC OR MIT", True)
        self.check("GPL-3.0-only AND (ISC OR MIT)", False)
        self.check("(MIT OR ISC) AND GPL-3.0-only", False)

    def test_parentheses_nest(self):
        self.check("((MIT))", True)
        self.check("(MIT OR (GPL-3.0-only AND ISC)) AND Unicode-3.0", True)
        self.check("(MIT OR Apache-2.0) AND Unicode-DFS-2016", True)

    def test_an_exception_counts_only_with_its_licence(self):
        self.check("Apache-2.0 WITH LLVM-exception", True)
        self.check("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", True)
        self.check("GPL-3.0-only WITH LLVM-exception", False)
        self.check("MIT WITH LLVM-exception", False)
        self.check("Apache-2.0 WITH Bison-exception-2.2", False)

    def test_a_slash_is_an_or(self):
        self.check("MIT/Apache-2.0", True)
        self.check("GPL-3.0-only / MIT", True)
        self.check("GPL-3.0-only/AGPL-3.0-only", False)

    def test_or_later_includes_the_version_itself(self):
        self.check("Apache-2.0+", True)
        self.check("GPL-2.0+", False)

    def test_nonsense_is_an_error(self):
        nonsense = [
            "", " ", "OR", "MIT OR", "AND MIT", "MIT MIT", "(MIT", "MIT)", "()", "MIT WITH", "MIT OR AND ISC",
            "WITH LLVM-exception", "MIT WITH (LLVM-exception)", "MIT, ISC", "MIT & ISC", "(" * 1000 + "MIT",
        ]
        for expression in nonsense:
            with self.subTest(expression[:30]), self.assertRaises(NotAnExpression):
                is_satisfied(expression)


class Crates(unittest.TestCase):
    def test_each_unusable_crate_is_named(self):
        packages = [
            {"name": "good", "version": "1.0.0", "license": "MIT OR Apache-2.0"},
            {"name": "viral", "version": "2.0.0", "license": "GPL-3.0-only"},
            {"name": "silent", "version": "3.0.0", "license": None},
            {"name": "garbled", "version": "4.0.0", "license": "MIT ISC"},
        ]
        self.assertEqual(
            crate_complaints({"packages": packages}),
            [
                "viral 2.0.0 is under GPL-3.0-only, which is not on the list",
                "silent 3.0.0 names no licence",
                "garbled 4.0.0 has an unreadable licence: 'MIT ISC': 'ISC' is out of place",
            ],
        )


class Guest(unittest.TestCase):
    README = """
| name | other |
|---|---|
| loose | MIT |

| package | licence | why |
|---|:---|---|
| PyYAML | MIT | YAML |
| python-dateutil | BSD-3-Clause or Apache-2.0 | dates |
| viral | GPL-3.0-only | oh no |

| after | it | all |
|---|---|---|
"""

    def test_the_table_is_read(self):
        expected = {"pyyaml": "MIT", "python-dateutil": "BSD-3-Clause or Apache-2.0", "viral": "GPL-3.0-only"}
        self.assertEqual(documented_licences(self.README), expected)

    def test_each_undocumented_package_is_named(self):
        lock = "# comment==1\nPyYAML==6.0 \\\n    --hash=sha256:00==\npython_dateutil==2\nviral==1\nloose==1\n"
        self.assertEqual(
            guest_complaints(lock, self.README),
            ["viral is under GPL-3.0-only, which is not on the list", "loose names no licence"],
        )


class Weights(unittest.TestCase):
    README = """
| package | licence | what |
|---|---|---|
| good-weights | MIT AND Apache-2.0 | a model |
| bad-weights | CC-BY-NC-4.0 | another |
"""

    def check(self, source, expected):
        self.assertEqual(weights_complaints(source, self.README), expected)

    def test_the_package_that_weights_come_from_needs_a_documented_licence(self):
        self.check('const PACKAGE: &str = "good-weights";\n', [])
        self.check('const PACKAGE: &str = "bad-weights";\n', ["bad-weights is under CC-BY-NC-4.0, which is not on the list"])
        self.check('const PACKAGE: &str = "new-weights";\n', ["new-weights names no licence"])
        self.check("", ["the encoder's build names no package"])


if __name__ == "__main__":
    unittest.main()
