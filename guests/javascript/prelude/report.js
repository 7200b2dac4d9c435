// From an exception to the `error` part of an outcome.

/** A value that fails whoever looks at it is a failure of the program, not of its report. */
function describedError(error) {
  try {
    return describeError(error);
  } catch (failed) {
    if (isA(failed, InternalErrorType)) throw failed;
    return { kind: "exception", type: "Error", message: "the program threw a value that can't be shown", line: null, traceback: "", hint: null, limit: null };
  }
}

function describeError(error) {
  const kind = kindOf(error);
  if (kind === "memory") host.outOfMemory();
  const isError = error !== null && typeof error === "object";
  const place = placeOf(error);
  const told = {
    kind,
    type: isError ? errorName(error) : "Error",
    message: messageOf(error, kind),
    line: place?.line ?? null,
    traceback: ["result_limit", "context", "exit"].includes(kind) ? "" : traceback(error, place),
    hint: null,
    limit: null,
  };
  if (kind === "syntax") told.line = syntaxLine(error) ?? told.line;
  if (kind === "result_limit") told.limit = { name: error.limit, value: error.most };
  if (kind === "tool") told.code = typeof error.code === "string" ? error.code : null;
  told.hint = hintFor(error, kind);
  return told;
}

function kindOf(error) {
  if (error instanceof Exit) return "exit";
  if (error instanceof ToolError) return "tool";
  if (error instanceof ResultLimit) return "result_limit";
  if (error instanceof ContextError) return "context";
  if (error instanceof ModuleNotFound) return "missing_module";
  if (error instanceof AggregateError && error.errors.length && error.errors.every((member) => member instanceof ToolError)) return "tool";
  if (error instanceof InternalError && /out of memory/.test(error.message)) return "memory";
  if (error instanceof RangeError && /Maximum call stack size/.test(error.message)) return "recursion";
  if (error instanceof SyntaxError && run.isUncompiled) return "syntax";
  return "exception";
}

/** The line of a program that could not be compiled: its stack has nothing but that place. */
function syntaxLine(error) {
  const found = /^\s*at (?:\S+ \()?([^():]+):(\d+)/.exec(`${error.stack}`);
  return found !== null && found[1] === run.filename ? Number(found[2]) : null;
}

function messageOf(error, kind) {
  if (kind === "memory") return "the program needs more memory than the sandbox has";
  if (error === null || typeof error !== "object") return `the program threw ${cut(inspect(error), 500)}`;
  let message;
  try {
    message = `${error.message ?? ""}`;
  } catch {
    message = "";
  }
  if (error instanceof AggregateError && message === "") message = "All promises were rejected";
  if (message === "not a function") message = `${calledAt(error) ?? "what is called"} is not a function`;
  if (error instanceof AggregateError && error.errors.length) message += `; the first: ${errorTitle(error.errors[0])}`;
  if (!(error instanceof ErrorType) && message === "") return `the program threw ${cut(inspect(error), 500)}`;
  if (error.cause instanceof ErrorType) message += ` (caused by ${errorTitle(error.cause)})`;
  return cut(message, 4000);
}

function titleOf(error) {
  const message = messageOf(error, "exception");
  return message ? `${errorName(error)}: ${message}` : errorName(error);
}

/** What the program called that is no function, as it is written there. */
function calledAt(error) {
  const [frame] = framesOf(error);
  if (frame === undefined || frame.file !== run.filename || !frame.column) return undefined;
  const line = authorsLine(frame.line) ?? "";
  const before = /[\w$.\])]*$/.exec(line.slice(0, frame.column - 1))[0];
  const after = /^[\w$]*/.exec(line.slice(frame.column - 1))[0];
  const written = `${before}${after}`;
  return /^[\w$]+(?:\.[\w$]+)*$/.test(written) ? cut(written, 80) : after || undefined;
}

/** The line that failed, what failed, and the program's own frames. */
function traceback(error, place) {
  const title = error instanceof ErrorType ? titleOf(error) : `Uncaught ${cut(inspect(error), 500)}`;
  const stack = error !== null && typeof error === "object" ? shortStack(error) : "";
  const source = place?.file === run.filename ? authorsLine(place.line) : undefined;
  const shown = source === undefined || source.trim() === "" ? "" : `${run.filename}:${place.line}\n    ${cut(source.trim(), 200)}\n`;
  return `${shown}${title}${stack ? `\n${stack}` : ""}`;
}
