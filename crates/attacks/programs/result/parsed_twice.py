# attack: a result, and a call's arguments, in which text is parsed again and again, each time with a depth of its own
# expect: error
# forbid: PWNED
import json

text = "0"
for _ in range(14):
    text = json.dumps({"$serde_json::private::RawValue": "[" * 80 + text + "]" * 80})
value = json.loads(text)
try:
    await callMCPTool("echo", {"value": value})
except ToolError:
    pass
result = value
