import io

import pandas as pd

page = "<table><thead><tr><th>team</th><th>won</th></tr></thead><tr><td>Red</td><td>4</td></tr><tr><td>Blue</td><td>7</td></tr></table>"
table = pd.read_html(io.StringIO(page), flavor="lxml")[0]
table.to_xml("teams.xml", index=False)
again = pd.read_xml("teams.xml")
print(again.equals(table))
result = again.sort_values("won", ascending=False)
