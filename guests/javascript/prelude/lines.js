// Lines of the program: which one is being executed, and stack traces that show nothing else.

const PRELUDE_NAME = "gristmill:prelude";
const DEFAULT_FILENAME = "program.ts";
const STACK_LINES_MAX = 12;
const FRAME = /^\s*at (?:(.*?) \()?(?:(.+?):(\d+)(?::(\d+))?|native)\)?$/;

// Names of this program and of earlier ones of the same session.
const programNames = new Set([DEFAULT_FILENAME]);
const skillFiles = new Set();

function framesOf(error) {
  let stack;
  try {
    stack = error.stack;
  } catch {
    return [];
  }
  if (typeof stack !== "string") return [];
  const frames = [];
  for (const text of stack.split("\n").slice(0, 200)) {
    const found = FRAME.exec(text);
    if (found === null || found[2] === undefined || found[2] === PRELUDE_NAME) continue;
    if (!programNames.has(found[2]) && !skillFiles.has(found[2])) continue;
    frames.push({ name: nameOfFrame(found[1]), file: found[2], line: Number(found[3]), column: Number(found[4]) });
  }
  return frames;
}

function nameOfFrame(name) {
  return name === undefined || name.startsWith("<") ? "" : name;
}

/** The line of the program that an error came from, or null. */
function lineOf(error) {
  if (error !== null && typeof error === "object") {
    if (Number.isInteger(error[LINE])) return error[LINE];
    const frame = framesOf(error).find((found) => programNames.has(found.file));
    if (frame !== undefined) return frame.line;
  }
  return null;
}

/** The line of the program that is being executed, or null. */
function programLine() {
  const { stack } = new ErrorType();
  const mark = `${run?.filename}:`;
  const at = typeof stack === "string" ? stack.indexOf(mark) : -1;
  if (at === -1) return null;
  const line = parseInt(stack.slice(at + mark.length, at + mark.length + 8), 10);
  return Number.isNaN(line) ? null : line;
}

// Where the program made a call: the answer comes when nothing of it is on the stack.
const LINE = Symbol("line");

/** The program's own frames, as Node writes them. */
function shortStack(error) {
  const lines = [];
  for (const frame of framesOf(error)) {
    // On the first line stands what surrounds the program, so columns there are not the author's.
    const at = frame.line > 1 && frame.column ? `${frame.file}:${frame.line}:${frame.column}` : `${frame.file}:${frame.line}`;
    const text = frame.name ? `    at ${frame.name} (${at})` : `    at ${at}`;
    if (lines[lines.length - 1] !== text) lines.push(text);
  }
  if (lines.length > STACK_LINES_MAX) {
    const left = lines.length - STACK_LINES_MAX;
    lines.splice(STACK_LINES_MAX - 2, left + 1, `    ... ${left + 1} more`);
  }
  return lines.join("\n");
}
