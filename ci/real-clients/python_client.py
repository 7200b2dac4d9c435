"""One client on PyPI's `mcp`, of either major version: does the steps of a job, tells what it saw.

    python_client.py JOB

JOB is a file made by served.py: a server to reach (a command, or a URL) and steps. What each step
saw goes to standard output as one JSON object. A step that raises is told as `raised`; the others go on.
"""

import importlib.metadata
import json
import sys
import time
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio

IS_ONE = importlib.metadata.version("mcp").startswith("1.")
STEP_SECONDS_MAX = 45


def main(path):
    job = json.loads(Path(path).read_text())
    print(json.dumps(anyio.run(do_all, job)))


async def do_all(job):
    seen = {}
    async with connected(job) as (client, greeting):
        seen["connected"] = greeting
        for step in job["steps"]:
            seen[step["name"]] = await do(client, step, seen)
    seen["asked of the person"] = job.get("asked", [])
    return seen


async def do(client, step, seen):
    began = time.monotonic()
    try:
        with anyio.fail_after(STEP_SECONDS_MAX):
            answer = await getattr(Steps, step["do"])(client, step, seen)
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}", "code": code_of(error)}
    return {**answer, "seconds": time.monotonic() - began}


def code_of(error):
    return getattr(getattr(error, "error", None), "code", None)


@asynccontextmanager
async def connected(job):
    """The client and what the server said of itself."""
    async with AsyncExitStack() as stack:
        if IS_ONE:
            yield await connected_one(stack, job)
        else:
            from mcp import Client

            client = Client(await target_two(stack, job), mode=job["era"], elicitation_callback=elicited(job))
            await stack.enter_async_context(client)
            info = client.server_info
            yield client, {
                "protocol": client.protocol_version,
                "server": info and {"name": info.name, "version": info.version},
                "instructions": client.instructions,
                "capabilities": plain(client.server_capabilities),
            }


async def target_two(stack, job):
    from mcp.client.stdio import StdioServerParameters

    return await over_http(stack, job) if "url" in job else StdioServerParameters(**command_of(job))


async def over_http(stack, job):
    """With the local owner's token."""
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    http_client = await stack.enter_async_context(create_mcp_http_client(headers=job["headers"]))
    return streamable_http_client(job["url"], http_client=http_client)


def command_of(job):
    command, *arguments = job["command"]
    return {"command": command, "args": arguments, "env": job["env"], "cwd": job["cwd"]}


async def connected_one(stack, job):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    if "url" in job:
        transport = await over_http(stack, job)
    else:
        transport = stdio_client(StdioServerParameters(**command_of(job)))
    read, write, *_ = await stack.enter_async_context(transport)
    session = ClientSession(read, write, elicitation_callback=elicited(job))
    client = await stack.enter_async_context(session)
    hello = await client.initialize()
    return client, {
        "protocol": hello.protocolVersion,
        "server": {"name": hello.serverInfo.name, "version": hello.serverInfo.version},
        "instructions": hello.instructions,
        "capabilities": plain(hello.capabilities),
    }


def elicited(job):
    """What the person at this client says: to questions of the policy's one answer after the other."""
    from mcp import types

    answers = iter(job.get("answers", ()))

    async def answer(_context, params):
        schema = params.requestedSchema if IS_ONE else params.requested_schema
        if "answer" not in schema["properties"]:
            return types.ElicitResult(action="accept", content=job["elicited"])
        job.setdefault("asked", []).append(params.message)
        said = next(answers, None)
        if said is None:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content={"answer": said})

    return answer


class Steps:
    async def list_tools(client, step, seen):
        # By itself the newer client would answer the second time from its cache.
        fresh = {} if IS_ONE else {"cache_mode": "refresh"}
        return plain(await client.list_tools(**fresh))

    async def list_resources(client, step, seen):
        return plain(await client.list_resources())

    async def list_templates(client, step, seen):
        return plain(await client.list_resource_templates())

    async def list_prompts(client, step, seen):
        return plain(await client.list_prompts())

    async def read_resource(client, step, seen):
        uri = step["uri"]
        if IS_ONE:
            from pydantic import AnyUrl

            uri = AnyUrl(uri)
        return plain(await client.read_resource(uri))

    async def get_prompt(client, step, seen):
        return plain(await client.get_prompt(step["prompt"], step.get("arguments")))

    async def call(client, step, seen):
        progress = []

        async def on_progress(done, total, message):
            progress.append({"progress": done, "total": total, "message": message})

        options = {"progress_callback": on_progress} if step.get("progress") else {}
        answer = plain(await client.call_tool(step["tool"], filled(step["arguments"], seen), **options))
        return {**answer, "progress": progress}

    async def parallel(client, step, seen):
        answers = [None] * len(step["each"])

        async def call(place, arguments):
            answers[place] = plain(await client.call_tool(step["tool"], arguments))

        async with anyio.create_task_group() as group:
            for place, arguments in enumerate(step["each"]):
                group.start_soon(call, place, arguments)
        return {"answers": answers}

    async def cancel(client, step, seen):
        """Calls, and takes the call back once a file is there."""
        outcome = {}

        async def call():
            try:
                outcome.update(plain(await client.call_tool(step["tool"], step["arguments"])))
            except Exception as error:
                outcome["told"] = str(error)

        async with anyio.create_task_group() as group:
            request = client._request_id if IS_ONE else None
            group.start_soon(call)
            while not Path(step["when"]).exists():
                await anyio.sleep(0.05)
            if IS_ONE:
                await send_cancelled(client, request)
            group.cancel_scope.cancel()
        return outcome


async def send_cancelled(client, request):
    """The older client leaves this to whoever uses it."""
    from mcp import types

    parameters = types.CancelledNotificationParams(requestId=request, reason="no longer wanted")
    await client.send_notification(types.ClientNotification(types.CancelledNotification(params=parameters)))


def filled(value, seen):
    """`{"from": ["step", "key", …]}` becomes what that step saw."""
    if isinstance(value, dict) and set(value) == {"from"}:
        found = seen
        for key in value["from"]:
            found = found[key]
        return found
    if isinstance(value, dict):
        return {key: filled(inner, seen) for key, inner in value.items()}
    return value


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


if __name__ == "__main__":
    main(sys.argv[1])
