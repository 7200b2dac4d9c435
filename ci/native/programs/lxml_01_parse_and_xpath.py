from lxml import etree

xml = b"""<?xml version="1.0"?>
<catalog><book id="1" lang="en"><title>Rust</title><price>30.5</price></book>
<book id="2" lang="de"><title>Python</title><price>25</price></book></catalog>"""
root = etree.fromstring(xml)
titles = root.xpath("//book[@lang='en']/title/text()")
total = root.xpath("sum(//price)")
root.find("book").set("seen", "yes")
print(etree.tostring(root.find("book")).decode())
result = {"titles": [str(title) for title in titles], "total": total}
