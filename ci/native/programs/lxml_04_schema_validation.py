from lxml import etree

schema = etree.XMLSchema(
    etree.XML(
        """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="order"><xs:complexType>
<xs:sequence><xs:element name="total" type="xs:decimal"/></xs:sequence><xs:attribute name="id" type="xs:int" use="required"/>
</xs:complexType></xs:element></xs:schema>"""
    )
)
good = etree.XML('<order id="1"><total>9.50</total></order>')
bad = etree.XML("<order><total>much</total></order>")
checked = [schema.validate(good), schema.validate(bad)]
for entry in schema.error_log:
    print(entry.message)
result = checked
