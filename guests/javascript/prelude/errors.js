// The errors that are ours.

/**
 * A tool call that failed. `tool` and `code` say which and how, `kind` names the cause. `retrySafe` says
 * whether the same call may be sent again without doing its work twice; undefined if nobody knows.
 */
class ToolError extends Error {
  constructor(message = "", details = {}) {
    super(message);
    const { tool, code, kind, retrySafe } = details ?? {};
    define(this, { tool, code, kind, retrySafe });
  }
}

class AnalysisError extends ToolError {}
class StateError extends Error {}

/** A value that does not fit. `limit` is the limit's name, `most` its size. */
class ResultLimit extends Error {
  constructor(limit, most, message) {
    super(message);
    this.limit = limit;
    this.most = most;
  }
}

/** A context variable that cannot become a global. */
class ContextError extends Error {}

/** A module that there is not. */
class ModuleNotFound extends Error {
  constructor(message) {
    super(message);
    define(this, { code: "ERR_MODULE_NOT_FOUND" });
  }
}

/** Ends the program: `process.exit`. */
class Exit extends Error {
  constructor(code) {
    super(`the program exited with code ${code}`);
    this.exitCode = code;
  }
}

for (const [type, name] of [
  [ToolError, "ToolError"],
  [AnalysisError, "AnalysisError"],
  [StateError, "StateError"],
  [ResultLimit, "ResultLimit"],
  [ContextError, "ContextError"],
  [ModuleNotFound, "ModuleNotFoundError"],
  [Exit, "Exit"],
]) {
  define(type.prototype, { name });
}

/** The ToolError that a failed call's payload describes. */
function errorFrom(payload, tool, Type = ToolError) {
  let told;
  try {
    told = fromJSONText(payload);
  } catch {
    told = null;
  }
  if (told === null || typeof told !== "object") told = { message: payload };
  const message = typeof told.message === "string" && told.message ? told.message : "the tool failed without a message";
  const retrySafe = typeof told.retry_safe === "boolean" ? told.retry_safe : undefined;
  const code = told.code ?? undefined;
  const error = new Type(message, { tool: told.tool || tool, code, kind: told.kind ?? undefined, retrySafe });
  if (Type === AnalysisError) {
    const step = Number.isInteger(told.step) ? told.step : undefined;
    define(error, { step, hint: typeof told.hint === "string" ? told.hint : undefined });
  }
  return error;
}

function atLine(error, line) {
  if (line !== null) define(error, { [LINE]: line });
  return error;
}
