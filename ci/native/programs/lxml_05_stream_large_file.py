from lxml import etree

with etree.xmlfile("events.xml", encoding="utf-8") as out:
    with out.element("events"):
        for n in range(5000):
            event = etree.Element("event", kind="click" if n % 3 else "view")
            event.text = str(n)
            out.write(event)

counts = {}
for _, element in etree.iterparse("events.xml", tag="event"):
    counts[element.get("kind")] = counts.get(element.get("kind"), 0) + int(element.text)
    element.clear()
try:
    etree.fromstring(b"<a><b></a>")
except etree.XMLSyntaxError as error:
    print(error.msg)
result = counts
