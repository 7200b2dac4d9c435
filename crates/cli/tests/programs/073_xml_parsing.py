import xml.etree.ElementTree as ET

feed = """<?xml version="1.0"?>
<catalog xmlns:m="urn:mill">
  <book id="1" m:shelf="A"><title>Grain &amp; Stone</title><price currency="EUR">12.50</price></book>
  <book id="2"><title>Rivers</title><price currency="USD">8</price></book>
</catalog>"""
root = ET.fromstring(feed)
books = [
    {
        "id": int(b.get("id")),
        "title": b.findtext("title"),
        "price": float(b.find("price").text),
        "currency": b.find("price").get("currency"),
        "shelf": b.get("{urn:mill}shelf"),
    }
    for b in root.iter("book")
]
out = ET.Element("summary", count=str(len(books)))
ET.SubElement(out, "total").text = f"{sum(b['price'] for b in books):.2f}"
{"books": books, "xml": ET.tostring(out, encoding="unicode")}
