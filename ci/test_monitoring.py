"""The dashboard for Grafana asks for metrics that there are."""

import json
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MONITORING = ROOT / "packaging" / "monitoring"


class Dashboard(unittest.TestCase):
    def test_every_metric_that_it_shows_is_documented_with_its_labels(self):
        table = {}
        for line in (ROOT / "docs" / "metrics.md").read_text().splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if found := re.match(r"`(\w+)`", cells[0]):
                table[found[1]] = set(re.findall(r"`(\w+)`", cells[2]))
        dashboard = json.loads((MONITORING / "grafana" / "gristmill.json").read_text())
        shown = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        self.assertGreater(len(shown), 10)
        for expression in shown:
            (metric,) = set(re.findall(r"\b(?:gristmill|process)_\w+", expression))
            known = {name: labels for name, labels in table.items() if metric in (name, f"{name}_bucket", f"{name}_total")}
            self.assertEqual(len(known), 1, expression)
            grouped = set(re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", expression)))) - {"le"}
            filtered = set(re.findall(r"(\w+)=", expression)) - {"job"}
            self.assertLessEqual(grouped | filtered, *known.values(), expression)


if __name__ == "__main__":
    unittest.main()
