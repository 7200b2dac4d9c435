"""`gristmill serve` over its pipes: one line of JSON-RPC a message, nothing of the code under test."""

import json
import os
import subprocess
import tempfile
from pathlib import Path


class Refused(Exception):
    """An answer that says that the analysis failed."""


class Served:
    """A gateway in a home of its own. Used with `with`."""

    def __init__(self, gristmill, engine):
        self._home = tempfile.TemporaryDirectory(prefix="gristmill-compare-")
        home = Path(self._home.name)
        cache = home / "cache"
        cache.mkdir()
        # Compiled once for all; everything else is new.
        (cache / "engines").symlink_to(Path(engine).parent)
        variables = {
            **os.environ,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "GRISTMILL_DATA_DIR": str(home / "data"),
            "GRISTMILL_CACHE_DIR": str(cache),
        }
        command = [gristmill, "serve", "--no-servers", "--profile", "standard", "--timeout", "100s"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen(command, cwd=home, env=variables, **pipes)
        self._last = 0
        greeting = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "compare", "version": "1"},
        }
        self._request("initialize", greeting)
        self._send({"method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._home.cleanup()

    def analysis(self, **arguments):
        """What execute_analysis gives, whole. Integers stay whole numbers, whatever their size."""
        arguments["max_output_tokens"] = 100_000
        result = self._request("tools/call", {"name": "execute_analysis", "arguments": arguments})
        told = result.get("structuredContent") or {}
        if result.get("isError"):
            raise Refused(result["content"][0]["text"])
        if "result_handle" in told:
            raise AssertionError("the table is too large to be compared whole; make it smaller")
        return told["result"]

    def _request(self, method, params):
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        while True:
            line = self._process.stdout.readline()
            if not line:
                raise SystemExit(f"error: the gateway ended while {method} was under way")
            message = json.loads(line)
            if message.get("id") == self._last:
                break
        if "error" in message:
            raise SystemExit(f"error: {method}: {message['error']}")
        return message["result"]

    def _send(self, message):
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()
