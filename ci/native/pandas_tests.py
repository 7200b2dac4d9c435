"""A program: runs pandas' own tests of some folders, by the pytest of the environment. `folders` comes with it."""

import os

import pandas
import pytest

base = os.path.dirname(os.path.dirname(pandas.__file__))


class Outcomes:
    """What became of each test."""

    def __init__(self):
        self.counts, self.failed, self.errors = {}, {}, []

    def pytest_runtest_logreport(self, report):
        # A test has three parts; the middle one counts, and whatever fails.
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] = self.counts.get(report.outcome, 0) + 1
        if report.outcome == "failed":
            self.failed[report.nodeid] = str(report.longrepr).splitlines()[-1][:200]

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.errors.append(f"{report.nodeid}: {str(report.longrepr)[-500:]}")


outcomes = Outcomes()
options = ["-q", "--no-header", "--tb=short", "--capture=sys", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
options += ["-W", "ignore", "--rootdir", base, "--confcutdir", base, "-c", os.devnull]
code = pytest.main([*options, *(os.path.join(base, folder) for folder in folders)], plugins=[outcomes])
result = {"code": int(code), "counts": outcomes.counts, "failed": outcomes.failed, "errors": outcomes.errors}
