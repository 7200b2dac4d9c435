from lxml import html

page = html.fromstring(
    """<html><body><h1>News</h1><ul><li><a href="/a?x=1">First</a><li><a href='https://example.com/b'>Second &amp; last</a></ul>
<table><tr><th>k<th>v<tr><td>a<td>1<tr><td>b<td>2</table></body></html>"""
)
page.make_links_absolute("https://example.com")
links = {a.text_content(): a.get("href") for a in page.iter("a")}
table = [[cell.text_content().strip() for cell in row] for row in page.xpath("//tr[td]")]
result = {"links": links, "table": table}
