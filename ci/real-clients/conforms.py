"""The conformance suite for servers, against `gristmill serve --http`, in both eras of the protocol."""

import time
import unittest
from pathlib import Path
from urllib.parse import urlsplit

from expected_failures import FAILING, complaints, read_expected, read_found
from served import Clients, Home, run_bounded

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "conformance-expected-failures.toml"
SECONDS_MAX = 120


class Conforms(unittest.TestCase):
    transport = "http"

    @classmethod
    def setUpClass(cls):
        cls.home = Home()
        try:
            # The suite cannot send a token by itself. What is passed on needs one whatever the gateway is told.
            cls.url = cls.home.serve_over_http(*(["--insecure-no-token"] if Clients.pairs is None else []))
        except BaseException:
            cls.home.close()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.home.close()

    def with_token(self):
        """What has Node.js send one: words before the program's, and variables."""
        if Clients.pairs is None:
            return [], {}
        _, token = self.home.headers()["Authorization"].split()
        origin = f"http://{urlsplit(self.url).netloc}"
        return ["--import", HERE / "with_token.mjs"], {"SENT_TO": origin, "SENT_TOKEN": token}

    def check(self, revision):
        began = time.monotonic()
        world = self.home.world
        folder = world.folder / f"conformance-{revision}"
        suite = Clients.npm / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        words = ["server", "--url", self.url, "--requirements", revision, "--output-dir", folder]
        flags, variables = self.with_token()
        done = run_bounded([Clients.node, *flags, suite, *words], world, SECONDS_MAX, **variables)
        found = read_found(done.stdout, folder)
        lines = complaints(read_expected(EXPECTED, revision), found)
        failing = sum(status in FAILING for status, _ in found.values())
        passing = sum(status == "SUCCESS" for status, _ in found.values())
        title = f"Conformance {revision} ({passing} checks pass, {failing} fail)"
        Clients.seconds[title] = time.monotonic() - began
        if lines:
            self.fail("\n" + "\n".join(lines))

    def test_the_requirements_of_2026_07_28(self):
        self.check("2026-07-28")

    def test_the_requirements_of_2025_11_25(self):
        self.check("2025-11-25")
