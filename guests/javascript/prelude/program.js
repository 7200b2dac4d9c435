// One run: a program in, an outcome out.

let run = null;
let keptCount = 0;
let isFirstKept = true;

class Run {
  notes = new Notes();
  error = null;
  exit = null;
  /** `{value}` or `{error}` once the program's own promise is settled. */
  settled = null;
  /** The value of the result once it was awaited, where it is a promise. */
  awaited = null;
  hasResult = false;
  /** Whether it could not be compiled, so that nothing of it has run. */
  isUncompiled = false;
  resultAssigned = false;
  /** The line of the import that came last. */
  importLine = 1;

  constructor(code, filename, limits) {
    Object.assign(this, { code, filename, limits });
  }

  fail(error) {
    if (isA(error, Exit)) this.exit ??= error;
    this.error ??= { thrown: error };
  }
}

/** What a program is rewritten to use; see the gateway's preparation of TypeScript. */
const bridge = { default: undefined, last: undefined, result: undefined };
for (const [name, value] of Object.entries({
  module: importModule,
  load: (spec) => importModule(spec, programLine()),
  meta: { url: `file:///workspace/${DEFAULT_FILENAME}`, filename: `/workspace/${DEFAULT_FILENAME}`, dirname: "/workspace", main: true },
})) {
  defineProperty(bridge, name, { value, enumerable: true });
}
// The next program of a session imports through it, too.
Object.seal(bridge);

const NOTHING = Symbol("nothing");
let assignedResult = NOTHING;

function clearResults() {
  bridge.default = bridge.last = bridge.result = undefined;
  if (run !== null) run.resultAssigned = false;
}

defineProperty(globalThis, "result", {
  get: () => (assignedResult === NOTHING ? undefined : assignedResult),
  set(value) {
    assignedResult = value;
    if (run !== null) run.resultAssigned = true;
  },
  configurable: true,
  enumerable: false,
});

function nameFor(filename, keeps) {
  const wanted = filename || DEFAULT_FILENAME;
  if (!keeps) {
    programNames.clear();
    rewrites.clear();
    return wanted;
  }
  keptCount += 1;
  if (!programNames.has(wanted) || isFirstKept) {
    isFirstKept = false;
    return wanted;
  }
  const [, stem, ending] = /^(.*?)(\.[^.]*)?$/.exec(wanted);
  return `${stem}-${keptCount}${ending ?? ""}`;
}

function begin(code, filename, context, resultBytes, largeBytes, depth, keeps) {
  calls = new Calls();
  timers = new Timers();
  unheard = new Map();
  answers = { latest: undefined, tool: undefined };
  missingVariable = undefined;
  skillModules.clear();
  const name = nameFor(filename, keeps);
  programNames.add(name);
  noteRewrites(name, code);
  run = new Run(code, name, { bytes: resultBytes || 1_000_000, largeBytes, depth: depth || 50 });
  clearResults();
  nodeProcess.argv = ["node", name];
  bridge.meta.url = `file:///workspace/${name}`;
  bridge.meta.filename = `/workspace/${name}`;
  try {
    if (context !== "") takeContext(fromJSONText(context));
    const main = compiled(code, name);
    if (typeof main !== "function") throw new TypeError("the program is not in the form that the sandbox runs");
    apply(promiseThen, main(), [(value) => (run.settled = { value }), (error) => (run.settled = { error })]);
  } catch (error) {
    run.fail(error);
  }
}

function compiled(code, name) {
  try {
    return host.evaluate(code, name);
  } catch (error) {
    // The script is one function, which nobody has called yet.
    run.isUncompiled = true;
    throw error;
  }
}

const ARGUMENTS = "sys.argv";
const MAY_BE_HIDDEN = ["state", "reset", "privacy", "tools", "stats"];
const RESERVED = new Set(
  "break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with yield let static await implements interface package private protected public undefined NaN Infinity globalThis".split(" "),
);

function takeContext(context) {
  const members = { ...context };
  if (isArray(members[ARGUMENTS])) {
    nodeProcess.argv = ["node", ...members[ARGUMENTS].map(String)];
    delete members[ARGUMENTS];
  }
  // All or none.
  for (const name of keysOf(members)) checkContextName(name);
  for (const name of keysOf(members)) {
    defineProperty(globalThis, name, { value: members[name], writable: true, enumerable: true, configurable: true });
  }
}

function checkContextName(name) {
  if (!/^[\p{ID_Start}_$][\p{ID_Continue}$\u200c\u200d]*$/u.test(name)) throw new ContextError(`the context name "${cut(name, 80)}" is not an identifier`);
  if (RESERVED.has(name)) throw new ContextError(`the context name "${name}" is a word of JavaScript`);
  if (name === "__gristmill" || name === "__proto__") throw new ContextError(`the context name "${name}" is reserved`);
  if (hasOwn(helpers, name) && !MAY_BE_HIDDEN.includes(name)) throw new ContextError(`the context name "${name}" would hide a built-in helper; choose another`);
}

/** An exception that nothing of the program could catch. */
function uncaught(error) {
  run.fail(error);
}

/** Does the next thing that is due; true once the program is over. Promises have their turn in between. */
function turn() {
  if (run.error !== null || run.exit !== null) return true;
  if (run.settled !== null && "error" in run.settled) {
    run.fail(run.settled.error);
    return true;
  }
  if (calls.arrived.size > 0) {
    calls.handOut();
    return false;
  }
  if (run.settled !== null && run.awaited === null) {
    awaitResult();
    return false;
  }
  const next = timers.first();
  const now = host.now();
  if (next !== undefined && next.due <= now) {
    try {
      timers.run(next);
    } catch (error) {
      run.fail(error);
    }
    return false;
  }
  const isDone = run.settled !== null && run.awaited !== PENDING;
  const waits = calls.waiting.size > 0 || (next !== undefined && (!isDone || timers.keepsRunning()));
  if (!waits) {
    if (!isDone) run.fail(new ErrorType("the program awaits a promise that nothing can settle any more"));
    return true;
  }
  calls.wait(next === undefined ? undefined : Math.ceil((next.due - now) * 1000));
  return false;
}

const PENDING = Symbol("pending");

/** What the program gave, by the first of: `return`, `result`, `export default`, its last expression. */
function pickedResult() {
  if (run.settled.value !== undefined) return run.settled.value;
  if (bridge.result !== undefined) return bridge.result;
  if (run.resultAssigned && assignedResult !== undefined) return assignedResult;
  if (bridge.default !== undefined && typeof bridge.default !== "function") return bridge.default;
  if (bridge.last !== undefined) return bridge.last;
  return bridge.default;
}

function isPlainFunction(value) {
  return typeof value === "function" && !Function.prototype.toString.call(value).startsWith("class");
}

function awaitResult() {
  let picked;
  try {
    picked = pickedResult();
    if (picked === bridge.default && isPlainFunction(picked)) {
      run.notes.add("the function that is exported as default was called, since nothing else was returned");
      picked = picked();
    }
  } catch (error) {
    run.fail(error);
    return;
  }
  if (host.promise(picked) === undefined) {
    run.awaited = { value: picked };
    return;
  }
  run.awaited = PENDING;
  unheard.delete(picked);
  try {
    apply(promiseThen, picked, [(value) => (run.awaited = { value }), (error) => run.fail(error)]);
  } catch (error) {
    run.fail(error);
  }
}

/** The outcome as JSON. `rejected` are reasons of promises that nobody listened to. */
function finish(rejected) {
  try {
    return outcomeOf(rejected);
  } catch (error) {
    return lastResort(error);
  } finally {
    calls = noCalls;
  }
}

/** When our own code failed: the program may have replaced what it needs. */
function lastResort(error) {
  let message = "the sandbox couldn't report on the program";
  try {
    const thrown = run.error === null ? error : run.error.thrown;
    message += `: ${cut(`${thrown?.name}: ${thrown?.message}`, 1000)}`;
  } catch {}
  const hint = "the program may have replaced parts of the standard library that reporting needs";
  return `{"ok":false,"result":null,"has_result":false,"notes":[],"error":{"kind":"exception","type":"Error","message":${toJSONText(message)},"line":null,"traceback":"","hint":${toJSONText(hint)},"limit":null},"damaged":true}`;
}

function outcomeOf(rejected) {
  settleLooseEnds(rejected);
  const told = { ok: true, result: null, has_result: false, notes: [] };
  try {
    convertResult(told);
  } catch (error) {
    if (run.error === null) run.error = { thrown: error };
    else run.notes.add(`the result couldn't be included: ${errorTitle(error)}`);
  }
  // Reading the result ran code of the program, which may have begun something.
  calls.cancelAll();
  timers.byId.clear();
  const ended = run.exit ?? run.error?.thrown;
  const isFailure = run.exit === null ? run.error !== null : run.exit.exitCode !== 0;
  if (isFailure) {
    told.ok = false;
    told.error = describedError(ended);
  }
  told.notes = run.notes.texts();
  return encodeOutcome(told);
}

function encodeOutcome(told) {
  const { resultText, ...rest } = told;
  const text = encodeJSON(rest);
  // A `toJSON` that a program gave to every object would speak for this one as well.
  if (text[0] !== "{") throw new TypeError("a toJSON of the program's is in the way");
  return resultText === undefined ? text : text.replace('"result":null', () => `"result":${resultText}`);
}

function convertResult(told) {
  if (run.awaited === null || run.awaited === PENDING) return;
  const { value } = run.awaited;
  if (value === undefined) return;
  const writer = new ResultWriter(run.notes, run.limits);
  const text = writer.write(value);
  if (text === undefined) return;
  const bytes = text.length * 3 <= run.limits.bytes ? text.length : host.byteLength(text);
  if (bytes > writer.mostBytes) throw writer.tooLarge();
  if (bytes > run.limits.bytes) {
    handOver(text);
    told.stored_result = true;
    return;
  }
  told.has_result = true;
  told.resultText = text;
}

/** Tells of what was forgotten, and gives up what still runs. */
function settleLooseEnds(rejected) {
  if (run.error === null && run.exit === null && rejected.length > 0) {
    run.error = { thrown: rejected[0], isUnheard: true };
  }
  for (const { written, line } of unheard.values()) {
    const where = line === null ? "" : ` on line ${line}`;
    run.notes.add(`${written}${where} was never awaited: it was sent, and nobody reads its answer; write await`);
  }
  if (missingVariable !== undefined) {
    run.notes.add(`process.env.${missingVariable} isn't set: programs have no environment variables; pass values as context`);
  }
  if (run.error === null && run.exit === null) {
    for (const timer of timers.byId.values()) {
      if (!timer.handle.repeats) continue;
      const where = timer.line === null ? "" : ` on line ${timer.line}`;
      run.notes.add(`setInterval${where} was never cleared; it ended with the program`);
    }
  }
  calls.cancelAll();
  timers.byId.clear();
}
