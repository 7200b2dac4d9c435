from html import escape, unescape
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.text = [], []

    def handle_starttag(self, tag, attrs):
        if tag == "a" and (href := dict(attrs).get("href")):
            self.links.append(urljoin("https://example.com/docs/", href))

    def handle_data(self, data):
        if data.strip():
            self.text.append(data.strip())


parser = Links()
parser.feed('<p>See <a href="../a?x=1&amp;y=2">A</a> or <a href="//cdn.example.org/b.js">B &lt; C</a><a>none</a></p>')
print(parser.links)
print(parser.text)
print(parse_qs(urlsplit(parser.links[0]).query), urlsplit(parser.links[1]).netloc)
print(urlencode({"q": "naïve café", "n": 2}), escape("<b>'x'</b>"), unescape("&eacute;&#8364;"))
