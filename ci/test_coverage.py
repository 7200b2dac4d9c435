"""The table of coverage, from made-up figures as llvm-cov exports them."""

import unittest

from coverage import by_crate, table


def file(name, covered, count):
    summary = {"lines": {"covered": covered, "count": count}, "branches": {"covered": 1, "count": 2}}
    return {"filename": f"/somewhere/{name}", "summary": summary}


class Coverage(unittest.TestCase):
    REPORT = {
        "data": [
            {
                "files": [
                    file("crates/domain/src/a.rs", 3, 4),
                    file("crates/domain/src/b.rs", 1, 4),
                    file("crates/http/src/lib.rs", 0, 0),
                    file("crates/domain/src/store/tests.rs", 9, 9),
                    file("crates/domain/src/door/planned_tests.rs", 9, 9),
                    file("crates/domain/tests/all.rs", 9, 9),
                    file("registry/serde/src/lib.rs", 9, 9),
                ]
            }
        ]
    }

    def test_crates_are_summed_without_tests_and_dependencies(self):
        crates = by_crate(self.REPORT)
        self.assertEqual(crates["domain"], {"lines": (4, 8), "branches": (2, 4)})
        self.assertEqual(set(crates), {"domain", "http"})

    def test_the_table_has_a_row_for_each_crate_and_for_all(self):
        self.assertEqual(
            table(by_crate(self.REPORT), has_branches=False),
            "| crate | lines covered | lines |\n| --- | ---: | ---: |\n"
            "| domain | 50.0 % | 8 |\n| http | - | 0 |\n| all | 50.0 % | 8 |\n",
        )
        self.assertIn("| all | 50.0 % | 50.0 % | 8 | 6 |\n", table(by_crate(self.REPORT), has_branches=True))


if __name__ == "__main__":
    unittest.main()
