// What the host drives: once `warm` in the process that the others are forked from, `ready` in each of them,
// then `begin`, `turn` until it says true, and `finish`.

const WARM_PROGRAM = `"use strict";(async () => { const { warmUp } = await __gristmill.module("./servers/warm", 1);
const one = async (n) => { await null; return JSON.parse(JSON.stringify({ n, a: [1.5, null, "x"] })); };
const rows = await Promise.all([one(1), callMCPTool("warm", { a: [1, "b"] }), new Promise((done) => setTimeout(done, 1, 2))]);
console.log("warm", rows.length, rows.map((row) => row), { at: new Date(0), set: new Set([1]), text: \`a \${rows.length}\` });
globalThis.result = { rows, at: new Map([["a", 1]]), total: (1234.5).toLocaleString() };
const fail = (n) => n.missing.member;
fail({});
}) // [[1,"warm",[0,0,0,28,0,1]]]`;

/** Answers the warm-up's calls without a host. */
function warmHost() {
  let next = 0;
  const waiting = [];
  const nothing = () => {
    throw "ENOENT";
  };
  return {
    startCall: () => {
      waiting.push(++next);
      return next;
    },
    waitAny: () => waiting.splice(0).flatMap((id) => [id, true, '{"answer": [1, 2, 3]}']),
    cancelCall() {},
    write() {},
    list: (path) => (path === SERVERS ? ["warm", "d"] : path === `${SERVERS}/warm` ? ["warmUp.ts", "f"] : nothing()),
    stat: nothing,
    readText: nothing,
  };
}

const liveHost = { ...host };

const control = {
  /** Begins a small program that takes the same way as a real one. */
  warm() {
    Object.assign(host, warmHost());
    begin(WARM_PROGRAM, "", '{"given": [1]}', 10_000, 0, 20, false);
  },
  /** Leaves no trace of it. */
  cool() {
    Object.assign(host, liveHost);
    delete globalThis.given;
    rewrites.clear();
    assignedResult = NOTHING;
    clearResults();
    run = null;
    calls = null;
    toolFileCount = 0;
  },
  ready() {
    drawAnew();
  },
  begin,
  uncaught,
  turn,
  finish,
};
