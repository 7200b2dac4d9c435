"""http.get, http.post and the like: requests to the hosts that the user allows. The gateway makes them.

They lie in the library's own module `http`, beside what it has. Each request is a call of a tool, and so is each
redirect that is followed: rules and records see all of them.
"""

import base64
import collections.abc
import http
import json
import urllib.parse

from gristmill_guest import catalogue, encoding, tools

SERVER = "http"
METHODS = ("get", "head", "post", "put", "patch", "delete")
REDIRECTS = frozenset((301, 302, 303, 307, 308))
REDIRECTS_MAX = 5
# What a request may tell another host than the one that it was meant for.
HARMLESS_HEADERS = frozenset(("accept", "accept-language", "content-type", "user-agent"))
BODIES = ("json", "body", "body_base64")
OPTIONS = "params, headers, json, data, timeout (seconds) and follow_redirects"

NO_HOSTS = (
    "programs have no network here, because no hosts are allowed: call a tool, or tell the user, who can set "
    "`allowed_hosts` under [network] in their configuration"
)
UNKNOWN_TOOL = "GM-1401"


def are_allowed():
    """Whether there are hosts that a program may reach."""
    return SERVER in catalogue.servers()


class Headers(dict):
    """Headers by name, in any spelling."""

    __module__ = "gristmill"

    def __getitem__(self, name):
        return dict.__getitem__(self, name.lower())

    def __contains__(self, name):
        return isinstance(name, str) and dict.__contains__(self, name.lower())

    def get(self, name, default=None):
        return dict.get(self, name.lower(), default)


class Response:
    """What a host answered: status, ok, url, headers, text, content (bytes) and json()."""

    __slots__ = ("status", "url", "headers", "_text", "_bytes")
    __module__ = "gristmill"

    def __init__(self, answer):
        self.status = answer["status"]
        self.url = answer["url"]
        self.headers = Headers(answer["headers"])
        self._text = answer.get("text")
        self._bytes = base64.b64decode(answer["base64"]) if "base64" in answer else None

    @property
    def status_code(self):
        return self.status

    @property
    def ok(self):
        return 200 <= self.status < 300

    @property
    def text(self):
        if self._text is not None:
            return self._text
        return (self._bytes or b"").decode("utf-8", "replace")

    @property
    def content(self):
        if self._bytes is not None:
            return self._bytes
        return (self._text or "").encode()

    def json(self):
        return json.loads(self.content)

    def raise_for_status(self):
        """Raises ToolError if the host answered with an error; otherwise gives the response."""
        if self.status >= 400:
            raise tools.ToolError(f"{self.url} answered {self.status}: {self.text[:200]}", tool="http", kind="http")
        return self

    def __bool__(self):
        return self.ok

    def __repr__(self):
        return f"<Response {self.status} of {self.url}>"


class HttpCall(tools.ToolCall):
    """One request, sent when first awaited. Redirects are followed by further ones."""

    def __init__(self, method, arguments, follows, function):
        self._method, self._arguments, self._follows = method, arguments, follows
        self._response = None
        super().__init__(f"{SERVER}.{method}", arguments, tools.program_line(), function)

    def __await__(self):
        if self._response is None:
            answer = yield from super().__await__()
            self._response = Response((yield from self._followed(_checked(answer, self._arguments))))
        return self._response

    def _followed(self, answer):
        method, arguments = self._method, self._arguments
        for _ in range(REDIRECTS_MAX):
            location = _location(answer) if self._follows else None
            if location is None:
                return answer
            method, arguments = _onward(method, arguments, answer, location)
            further = tools.ToolCall(f"{SERVER}.{method}", arguments, self.line, self._function)
            answer = _checked((yield from further.__await__()), arguments)
        if _location(answer) is None:
            return answer
        message = f"{self._function} was redirected more than {REDIRECTS_MAX} times"
        raise self._located(tools.ToolError(message, tool=self.tool, kind="http"))

    def _failed(self, payload):
        error = super()._failed(payload)
        if error.code == UNKNOWN_TOOL and not are_allowed():
            error = tools.ToolError(NO_HOSTS, tool=self.tool, code=UNKNOWN_TOOL, kind="network")
        return error


def _checked(answer, arguments):
    if isinstance(answer, dict) and type(answer.get("status")) is int and isinstance(answer.get("headers"), dict):
        return answer
    # Held in a dry run: there is no answer, but words in its place.
    return {"status": 0, "url": arguments["url"], "headers": {}, "text": encoding.to_json(answer)}


def _location(answer):
    return answer["headers"].get("location") if answer["status"] in REDIRECTS else None


def _onward(method, arguments, answer, location):
    """The request that a redirect leads to."""
    url = urllib.parse.urljoin(answer["url"], location)
    onward = {**arguments, "url": url}
    headers = dict(onward.get("headers", {}))
    if answer["status"] == 303 and method != "head" or answer["status"] in (301, 302) and method == "post":
        method = "get"
        for key in BODIES:
            onward.pop(key, None)
        headers = {name: value for name, value in headers.items() if name.lower() != "content-type"}
    if _origin(url) != _origin(answer["url"]):
        headers = {name: value for name, value in headers.items() if name.lower() in HARMLESS_HEADERS}
    if headers:
        onward["headers"] = headers
    else:
        onward.pop("headers", None)
    return method, onward


def _origin(url):
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.netloc


def request(method, url, **options):
    """Sends a request: `await http.request("GET", "https://api.example.com/items", params={"page": 2})`."""
    plain = method.lower() if isinstance(method, str) else method
    if plain not in METHODS:
        raise TypeError(f"the method of http.request must be one of {', '.join(METHODS)}, not {str(method)[:40]}")
    return _request(plain, url, options, "http.request")


def _request(method, url, options, function):
    if not isinstance(url, str):
        raise TypeError(f"{function} takes the URL as text, not {type(url).__name__}")
    arguments = {"url": _with_params(str.__str__(url), options.pop("params", None))}
    headers = _headers(options.pop("headers", None), function)
    if options.get("json") is not None:
        arguments["json"] = options["json"]
    options.pop("json", None)
    data = options.pop("data", options.pop("content", options.pop("body", None)))
    if data is not None:
        arguments.update(_body(data, headers, function))
    if headers:
        arguments["headers"] = headers
    timeout = options.pop("timeout", None)
    if timeout is not None:
        if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or not timeout > 0:
            raise TypeError(f"timeout of {function} must be a number of seconds above 0")
        arguments["timeout_ms"] = max(1, int(min(timeout, 1e6) * 1000))
    follows = options.pop("follow_redirects", options.pop("allow_redirects", True))
    if options:
        raise TypeError(f'{function} has no option "{next(iter(options))}"; it takes {OPTIONS}')
    return HttpCall(method, encoding.plain_arguments(arguments), bool(follows), function)


def _with_params(url, params):
    if not params:
        return url
    if isinstance(params, collections.abc.Mapping):
        params = {name: params[name] for name in params if params[name] is not None}
    query = params if isinstance(params, str) else urllib.parse.urlencode(params, doseq=True)
    url, mark, fragment = url.partition("#")
    return f"{url}{'&' if '?' in url else '?'}{query}{mark}{fragment}"


def _headers(given, function):
    if given is None:
        return {}
    if not isinstance(given, collections.abc.Mapping):
        raise TypeError(f"headers of {function} must be a dict, not {type(given).__name__}")
    return {str(name): str(given[name]) for name in given}


def _body(data, headers, function):
    if isinstance(data, str):
        return {"body": str.__str__(data)}
    if isinstance(data, (bytes, bytearray, memoryview)):
        return {"body_base64": base64.b64encode(bytes(data)).decode()}
    if isinstance(data, (collections.abc.Mapping, list, tuple)):
        if not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        return {"body": urllib.parse.urlencode(data, doseq=True)}
    raise TypeError(f"data of {function} must be text, bytes or a dict, not {type(data).__name__}; for JSON pass json=")


def _function(method):
    written = f"http.{method}"

    def function(url, **options):
        return _request(method, url, options, written)

    function.__name__ = function.__qualname__ = method
    function.__module__ = "gristmill"
    function.__doc__ = f'Sends a {method.upper()} request: `await {written}("https://api.example.com/items")`.'
    return function


FUNCTIONS = {method: _function(method) for method in METHODS}
FUNCTIONS["request"] = request
request.__module__ = "gristmill"


def install():
    """Done once, when the image is built: `http` is there with and without an import."""
    for name, function in FUNCTIONS.items():
        setattr(http, name, function)
