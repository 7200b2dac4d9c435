"""read_resource: what a server lets others read, by its `gristmill://` URI."""

import binascii

from gristmill_guest import encoding, tools


class ResourceRead(tools.ToolCall):
    """The reading of one resource, sent when first awaited."""

    _kind = "resource"
    _helper = "read_resource"
    _gap = ""

    def __init__(self, uri, line):
        self._prepare(uri, line, {"uri": uri, "line": line})

    def _value(self, payload):
        try:
            contents = encoding.from_json(payload)["contents"]
            values = [_content(content) for content in contents]
        except (ValueError, RecursionError, TypeError, KeyError):
            error = tools.ToolError("the resource cannot be read: its content is neither text nor base64", self.tool)
            raise self._located(error) from None
        return values[0] if len(values) == 1 else values


def _content(content):
    text = content.get("text") if type(content) is dict else None
    if type(text) is str:
        return text
    return binascii.a2b_base64(content["blob"], strict_mode=True)


def read_resource(uri):
    """Reads a resource: `await read_resource("gristmill://server/...")`.

    Text comes as str, other content as bytes, several contents as a list. `/servers/<server>/.resources.json`
    lists what there is.
    """
    if not isinstance(uri, str):
        raise TypeError(f"read_resource takes a URI as a string, not {type(uri).__name__}")
    return ResourceRead(str.__str__(uri), tools.program_line())
