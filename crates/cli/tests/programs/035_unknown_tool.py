outcome = "no error"
try:
    await callMCPTool("tool_that_does_not_exist", {"x": 1})
except Exception as error:
    outcome = "refused" if "tool_that_does_not_exist" in str(error) else f"unclear: {error}"
result = outcome
