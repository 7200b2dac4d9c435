"""analyze: filters, groups, joins and tests data in the gateway's analysis engine, by a list of steps."""

import collections.abc
import json.encoder

from gristmill_guest import encoding, tools

SOURCES = ("data", "file", "handle")
RESULTS = "/results/"
# As many as the host takes beside the data.
INPUTS_MAX = 3


class AnalysisError(tools.ToolError):
    """An analysis that failed. `step` is the number of the step, from 1 on, if one was reached.

    `hint` is what to do about it, which the message says as well.
    """

    step = None
    hint = None


AnalysisError.__module__ = "gristmill"


class Analysis(tools.ToolCall):
    """One analysis, sent when first awaited."""

    _kind = "analyze"
    _helper = "analyze"

    _size = "the data is {:,} characters of JSON; at most {:,} can be passed: write it to /workspace and pass file=..."

    def __init__(self, request, line):
        self._function = "analyze"
        self._prepare("analyze", line, {**request, "line": line})

    def _value(self, payload):
        return encoding.from_json(payload)

    def _failed(self, payload):
        told = tools.error_from(payload, "analyze")
        error = AnalysisError(told.message, told.tool, told.code, told.kind, told.retry_safe)
        try:
            details = encoding.from_json(payload)
            step, hint = details.get("step"), details.get("hint")
        except (ValueError, RecursionError, AttributeError):
            step = hint = None
        error.step = step if type(step) is int else None
        error.hint = hint if type(hint) is str else None
        return error


def analyze(
    data=None,
    steps=None,
    *,
    file=None,
    handle=None,
    format=None,
    data_field=None,
    inputs=None,
    analysis_type=None,
    parameters=None,
):
    """Analyses data by steps: `await analyze(rows, [{"filter": {...}}, {"aggregate": {...}}])`.

    Instead of data: file="sales.csv" in /workspace, or handle="..." of a stored result; data_field="result.items"
    is the path to rows inside it. `inputs` are further data by name, for joins. Gives rows as a list of dicts,
    or a report as a dict.
    """
    request = _source("analyze", {"data": data, "file": file, "handle": handle, "format": format})
    others = _others(inputs)
    if others:
        request["others"] = others
    asked = _asked(steps, analysis_type, parameters)
    if data_field is not None:
        asked["data_field"] = _text("data_field", data_field)
    request["request"] = encoding.Raw(_json(asked, "steps"))
    return Analysis(request, tools.program_line())


def _asked(steps, analysis_type, parameters):
    if analysis_type is not None:
        if steps is not None:
            raise TypeError("analyze takes steps, or analysis_type with parameters, not both")
        asked = {"analysis_type": _text("analysis_type", analysis_type)}
        return asked if parameters is None else {**asked, "parameters": parameters}
    if parameters is not None:
        raise TypeError("parameters of analyze need an analysis_type")
    steps = _parsed(steps)
    if isinstance(steps, collections.abc.Mapping):
        steps = [steps]
    if not isinstance(steps, (list, tuple)):
        given = "nothing" if steps is None else type(steps).__name__
        raise TypeError(f'steps of analyze must be a list such as [{{"filter": {{"total": {{">": 10}}}}}}], not {given}')
    return {"steps": steps}


def _others(inputs):
    if inputs is None:
        return {}
    if not isinstance(inputs, collections.abc.Mapping):
        raise TypeError(f'inputs of analyze must be a dict such as {{"customers": rows}}, not {type(inputs).__name__}')
    if len(inputs) > INPUTS_MAX:
        raise TypeError(f"inputs of analyze has {len(inputs)} members; at most {INPUTS_MAX} can be passed")
    others = {}
    for name in inputs:
        shown = f"inputs[{_text('each name in inputs', name)[:40]!r}]"
        others[str.__str__(name)] = _source(shown, inputs[name] if _is_source(inputs[name]) else {"data": inputs[name]})
    return others


def _is_source(given):
    """Whether it says where data is, instead of being data."""
    if not isinstance(given, collections.abc.Mapping) or not given:
        return False
    return all(key in SOURCES or key == "format" for key in given) and any(key in SOURCES for key in given)


def _source(shown, given):
    named = [key for key in SOURCES if given.get(key) is not None]
    if len(named) != 1:
        said = f"not {' and '.join(named)} together" if named else "but got none"
        raise TypeError(f"{shown} takes one of data, file or handle, {said}")
    (key,) = named
    if key == "data":
        given = {**given, "data": _parsed(given["data"])}
        if isinstance(given["data"], (str, int, float)):
            # A text would be one row that holds it: most likely it names what was meant.
            kind = type(given["data"]).__name__
            where = 'file="sales.csv" is a file of /workspace, handle="..." a stored result'
            raise TypeError(f"data of {shown} must be a list of rows, not {kind}; {where}")
        source = {"data": encoding.Raw(_json(given["data"], "data"))}
    else:
        text = _text(key, given[key])
        if key == "file" and text.startswith(RESULTS):
            # A stored result is reached by its handle, wherever it lies.
            key, text = "handle", text.removeprefix(RESULTS).partition(".")[0]
        source = {key: text}
    if given.get("format") is not None:
        source["format"] = _text("format", given["format"])
    return source


def _parsed(given):
    """What JSON text stands for, where a list or an object is expected; anything else as it is."""
    if isinstance(given, str) and given.lstrip()[:1] in ("[", "{"):
        try:
            return encoding.from_json(str.__str__(given))
        except (ValueError, RecursionError):
            pass
    return given


def _text(name, value):
    if not isinstance(value, str):
        raise TypeError(f"{name} of analyze must be text, not {type(value).__name__}")
    return str.__str__(value)


def _json(value, path):
    """Its JSON. Most data is plain and goes through at C speed; what is not is looked at piece by piece."""
    try:
        text = "".join(_encode(value, 0))
        return text if text.isascii() else encoding.without_surrogates(text)
    except (_NotPlain, ValueError, TypeError, RecursionError):
        pass
    return encoding.to_json(encoding.plain_value(value, path))


class _NotPlain(Exception):
    pass


def _refuse(_value):
    raise _NotPlain


# markers, default, encoder, indent, separators, sort_keys, skipkeys, allow_nan
_encode = json.encoder.c_make_encoder(
    None, _refuse, json.encoder.encode_basestring, None, ":", ",", False, False, False
)
