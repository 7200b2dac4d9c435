"""The pages of docs/ make a site: everyone is reached, every link leads somewhere."""

import tempfile
import unittest
from pathlib import Path

import docs_site as site


class OurPages(unittest.TestCase):
    def test_every_page_is_reached_and_every_link_leads_somewhere(self):
        files = site.staged(site.ROOT)
        listed = files["SUMMARY.md"]
        for name in files:
            if name.endswith(".md") and name != "SUMMARY.md":
                self.assertEqual(listed.count(f"]({name})"), 1, name)


class Pages(unittest.TestCase):
    def staged(self, **pages):
        with tempfile.TemporaryDirectory() as place:
            root = Path(place)
            (root / "docs" / "decisions").mkdir(parents=True)
            (root / "Cargo.toml").write_text('repository = "https://example.org/r"\n')
            (root / "CHANGES.md").touch()
            (root / "docs" / "decisions" / "01-first.md").write_text("# First\n")
            for name, text in pages.items():
                (root / "docs" / f"{name}.md").write_text(text)
            return site.staged(root)

    def test_contents_come_from_the_page_that_people_begin_with(self):
        files = self.staged(
            README="# All\n\n## Begin\n\n[two](two.md), [one](one.md#a), [two](two.md)\n\n## More\n\n[why](decisions)\n",
            one="# One `x`\n\n## A\n",
            two="# Two\n",
        )
        self.assertEqual(
            files["SUMMARY.md"],
            "# Summary\n\n[All](README.md)\n\n# Begin\n\n- [Two](two.md)\n- [One x](one.md)\n\n"
            "# Decisions\n\n- [Decisions](decisions/index.md)\n  - [First](decisions/01-first.md)\n",
        )
        self.assertIn("[why](decisions/index.md)", files["README.md"])

    def test_what_leaves_the_pages_leads_to_the_repository_and_code_is_left_alone(self):
        files = self.staged(README="# All\n\n## Do\n\n[it](../CHANGES.md#a)\n\n```\n[it](../CHANGES.md)\n```\n")
        self.assertIn(
            "[it](https://example.org/r/blob/main/CHANGES.md#a)\n\n```\n[it](../CHANGES.md)\n```", files["README.md"]
        )

    def test_what_is_wrong_is_said(self):
        for pages, said in (
            ({"README": "# All\n", "lost": "# Lost\n"}, "docs/lost.md isn't in docs/README.md"),
            ({"README": "# All\n\n## A\n\n[x](gone.md)\n"}, "gone.md leads nowhere"),
            ({"README": "# All\n\n## A\n\n[x](#b)\n"}, "#b: that page has no such heading"),
        ):
            with self.assertRaisesRegex(site.Broken, said):
                self.staged(**pages)


class FinishedSite(unittest.TestCase):
    def test_links_of_a_site_are_followed_to_files_and_names(self):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place).resolve()
            (folder / "a.html").write_text(
                '<a href="b.html#here">x</a><a href="https://example.org/">y</a><a href="#up">z</a><h1 id="up">'
            )
            (folder / "b.html").write_text('<h1 id="here"></h1><a href="c.html">x</a><a href="a.html#down">y</a>')
            self.assertEqual(
                list(site.broken_pages(folder)),
                ["b.html: c.html leads nowhere", "b.html: a.html#down: there is no such heading"],
            )


if __name__ == "__main__":
    unittest.main()
