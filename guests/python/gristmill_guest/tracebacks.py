"""Tracebacks as the program's author wants them: own lines shown, the rest folded.

Frames of the program and of files it imported are printed with their source line;
frames of the library become `[2 frames in json/decoder.py]`; the guest's own frames
are left out. Chains and groups are kept, repeated frames folded, the total bounded.
"""

import re
import traceback

TEXT_CHARS_MAX = 8 * 1024
MESSAGE_CHARS_MAX = 2000
CHAIN_MAX = 6
FRAMES_MAX = 400
GROUP_MEMBERS_MAX = 5
REPEATS_SHOWN = 3

CAUSE = "The above exception was the direct cause of the following exception:"
CONTEXT = "During handling of the above exception, another exception occurred:"

_LIBRARY = ("<stdlib>/", "<bundled>/")
# What was added to the sandbox lies in files.
PACKAGES = "/packages/"
_GUEST = ("<guest>/", "<check>")
_GUEST_PLACE = re.compile(
    r" \(<(?:stdlib|bundled|guest)>/[^)\n]*\)|"
    r"(?: running| defined| created)? at <(?:stdlib|bundled|guest)>/[^\s>\]:]*:\d+"
)


def render(error):
    """The whole traceback text, at most TEXT_CHARS_MAX characters."""
    try:
        # Lines are looked up when shown: the library's files exist nowhere.
        summary = traceback.TracebackException(
            type(error), error, error.__traceback__, compact=True, limit=-FRAMES_MAX, lookup_lines=False
        )
        text = "\n".join(_chain(summary, 0))
    except BaseException:
        text = f"{type(error).__name__}: {message_of(error)}"
    return _bounded(text)


def message_of(error):
    """str(error), even when the program's __str__ fails or returns a giant."""
    try:
        text = str(error)
    except BaseException as failure:
        return f"<the exception's __str__ raised {type(failure).__name__}>"
    if len(text) > MESSAGE_CHARS_MAX:
        # What is cut away should not be the reason behind a flood of blank lines.
        text = str.strip(text)
    text = _without_guest_paths(text[: 2 * MESSAGE_CHARS_MAX])
    return text if len(text) <= MESSAGE_CHARS_MAX else text[: MESSAGE_CHARS_MAX - 1] + "\u2026"


# A message of these alone is a value, such as 404 or [].
_SAYS_NOTHING = "+-.0123456789[](){}, '\""


def told_message_of(error):
    """The message, with the type in front where the message alone says nothing."""
    message = message_of(error)
    if not message.strip():
        return type(error).__name__
    if type(error).__str__ is KeyError.__str__ or not message.strip(_SAYS_NOTHING):
        return f"{type(error).__name__}: {message}"
    return message


def suggestion_of(error):
    """Python's own "Did you mean" for the error, or None."""
    try:
        summary = traceback.TracebackException(
            type(error), error, error.__traceback__, compact=True, limit=-1, lookup_lines=False
        )
        full = _without_guest_paths(_bounded(str(summary)))
    except BaseException:
        return None
    start = full.find("Did you ")
    return full[start:].strip() if start > 0 and full[:start].strip(". ") == message_of(error).strip(". ") else None


def line_of(error, filename):
    """The innermost line of the program in the traceback, or None."""
    line = None
    try:
        entry = error.__traceback__
        while entry is not None:
            if entry.tb_frame.f_code.co_filename == filename:
                line = entry.tb_lineno
            entry = entry.tb_next
        if isinstance(error, BaseExceptionGroup):
            # The group is raised where it was collected; the news is where a member failed.
            for member in error.exceptions:
                inner = line_of(member, filename)
                if inner is not None:
                    return inner
        if line is None and type(getattr(error, "line", None)) is int:
            line = error.line
    except BaseException:
        return line
    return line


def _chain(summary, depth):
    lines = []
    if depth < CHAIN_MAX:
        if summary.__cause__ is not None:
            lines += [*_chain(summary.__cause__, depth + 1), "", CAUSE, ""]
        elif _context_is_news(summary):
            lines += [*_chain(summary.__context__, depth + 1), "", CONTEXT, ""]
    frames = _frames(summary.stack)
    if frames:
        lines.append("Traceback (most recent call last):")
        lines += frames
    for text in summary.format_exception_only():
        # Bounded first: a message may be a hundred megabytes.
        shown = _without_suggestion(_bounded(text.rstrip("\n")))
        lines += [_without_guest_paths(line) for line in shown.split("\n")]
    members = getattr(summary, "exceptions", None)
    if members and depth < CHAIN_MAX:
        for number, member in enumerate(members[:GROUP_MEMBERS_MAX], 1):
            lines.append(f"  +-- {number} of {len(members)}")
            lines += ["  | " + line for line in _chain(member, depth + 1)]
        if len(members) > GROUP_MEMBERS_MAX:
            lines.append(f"  +-- and {len(members) - GROUP_MEMBERS_MAX} more")
    return lines


# What Python adds when it prints a message. The hint has it, or something better.
_SUGGESTION = re.compile(r"[.;]? ?(?:Did you mean: '[^'\n]*'\?|(?:Or d|D)id you forget to import '[^'\n]*'\??)")


def _without_suggestion(text):
    is_suggesting = text.startswith(("NameError: ", "AttributeError: ", "ImportError: ")) and "id you " in text
    return _SUGGESTION.sub("", text) if is_suggesting else text


def _context_is_news(summary):
    """Whether the program itself was handling an error; the library's own detours are not told."""
    if summary.__context__ is None or summary.__suppress_context__:
        return False
    return any(_is_own(frame) for frame in summary.__context__.stack)


def _is_own(frame):
    return not is_library(frame.filename)


def _frames(stack):
    blocks = []
    folded_file, folded_count = None, 0

    def fold():
        if folded_count:
            frames = "frame" if folded_count == 1 else "frames"
            blocks.append([f"  [{folded_count} {frames} in {folded_file}]"])

    for frame in stack:
        if frame.filename.startswith(_GUEST):
            continue
        label = _library_name(frame.filename)
        if label is not None and label == folded_file:
            folded_count += 1
            continue
        fold()
        folded_file, folded_count = (label, 1) if label is not None else (None, 0)
        if label is None:
            blocks.append(_own_frame(frame, stack))
    fold()
    # How the program came to run is no news: start at its own first frame.
    while blocks and blocks[0][0].startswith("  ["):
        blocks.pop(0)
    return [line for block in _without_repeats(blocks, cut=len(stack) >= FRAMES_MAX) for line in block]


def _own_frame(frame, stack):
    shown = stack.format_frame_summary(frame).rstrip("\n").split("\n")
    for tree in ("/workspace/", "/"):
        if frame.filename.startswith(tree):
            shown[0] = shown[0].replace(frame.filename, frame.filename[len(tree) :], 1)
            break
    shown[0] = shown[0].replace(", in <module>", "")
    return shown


def is_library(filename):
    """Whether the file belongs to the interpreter or to us, not to the program."""
    return _library_name(filename) is not None or filename.startswith(_GUEST)


def _library_name(filename):
    for label in (*_LIBRARY, PACKAGES):
        if filename.startswith(label):
            return filename[len(label) :]
    if filename.startswith("<frozen "):
        return filename[8:-1].replace(".", "/") + ".py"
    return None


def _without_repeats(blocks, cut):
    """Folds runs of the same frame, and of the same pair of frames, as deep recursion leaves them.

    `cut` says that frames were left out before the first one, so nobody knows how often it repeats.
    """
    kept = []
    index = 0
    while index < len(blocks):
        for period in (1, 2, 3):
            pattern = blocks[index : index + period]
            times = 1
            while blocks[index + times * period : index + (times + 1) * period] == pattern:
                times += 1
            if len(pattern) == period and times > REPEATS_SHOWN:
                kept += pattern * REPEATS_SHOWN
                what = "the frame" if period == 1 else f"the last {period} frames"
                count = "many" if cut and index == 0 else times - REPEATS_SHOWN
                kept.append([f"  [{what} above repeated {count} more times]"])
                index += times * period
                break
        else:
            kept.append(blocks[index])
            index += 1
    return kept


def _without_guest_paths(text):
    """Takes out places that the program cannot open: "(<stdlib>/json/__init__.py)", "running at <guest>/..."."""
    text = _GUEST_PLACE.sub("", text)
    for label in _LIBRARY + _GUEST[:1]:
        text = text.replace(label, "")
    return text


def _bounded(text):
    if len(text) <= TEXT_CHARS_MAX:
        return text
    head, tail = TEXT_CHARS_MAX // 2, TEXT_CHARS_MAX // 2 - 40
    return text[:head] + "\n  [...]\n" + text[-tail:]
