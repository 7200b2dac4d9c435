from contextlib import asynccontextmanager

events = []


@asynccontextmanager
async def session(name):
    events.append(f"open {name}")
    await callMCPTool("sleep", {"ms": 1})
    try:
        yield lambda value: callMCPTool("echo", {"value": value})
    except ToolError as error:
        events.append(f"swallowed {error}")
    finally:
        events.append(f"close {name}")


async with session("a") as say:
    events.append((await say("hello"))["value"])
async with session("b"):
    await callMCPTool("fail", {"message": "mid-session"})
result = events
