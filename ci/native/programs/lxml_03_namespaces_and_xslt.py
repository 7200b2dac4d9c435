from lxml import etree

source = etree.XML('<r xmlns:d="urn:d"><d:item n="2">b</d:item><d:item n="1">a</d:item></r>')
sheet = etree.XML(
    """<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:d="urn:d">
<xsl:output omit-xml-declaration="yes"/>
<xsl:template match="/r"><list><xsl:for-each select="d:item"><xsl:sort select="@n"/><i><xsl:value-of select="."/></i></xsl:for-each></list></xsl:template>
</xsl:stylesheet>"""
)
transformed = etree.XSLT(sheet)(source)
print(str(transformed))
result = [item.text for item in source.findall("d:item", {"d": "urn:d"})]
