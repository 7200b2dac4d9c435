// Calls to the host: started at once, answered when the event loop waits, or waited for in place.

/** What one program has under way. Replaced when the next one begins. */
let calls = null;

class Calls {
  /** What to do with each answer, by the call's number. */
  waiting = new Map();
  /** Answers that came while something else was waited for. */
  arrived = new Map();

  start(kind, payload, settle) {
    const id = host.startCall(kind, payload);
    this.waiting.set(id, settle);
    return id;
  }

  /** Waits for any answer, at most so long; hands out those that came. */
  wait(timeoutUs) {
    this.take(host.waitAny(timeoutUs));
    this.handOut();
  }

  take(completions) {
    for (let index = 0; index + 2 < completions.length; index += 3) {
      this.arrived.set(completions[index], [completions[index + 1], completions[index + 2]]);
    }
  }

  handOut() {
    for (const [id, [ok, payload]] of this.arrived) {
      this.arrived.delete(id);
      const settle = this.waiting.get(id);
      this.waiting.delete(id);
      if (settle !== undefined) settle(ok, payload);
    }
  }

  /** Starts a call and waits for its answer in place: `[ok, payload]`. Others that come meanwhile are kept. */
  ask(kind, payload) {
    const id = host.startCall(kind, payload);
    while (!this.arrived.has(id)) {
      const completions = host.waitAny(undefined);
      if (completions.length === 0) return [false, '{"message":"no gateway is connected"}'];
      this.take(completions);
    }
    const answer = this.arrived.get(id);
    this.arrived.delete(id);
    return answer;
  }

  cancel(id) {
    if (this.waiting.delete(id)) host.cancelCall(id);
  }

  cancelAll() {
    for (const id of [...this.waiting.keys()]) this.cancel(id);
  }
}

/** In place of calls once a program has ended: what it left behind reaches nobody. */
const noCalls = {
  start() {
    throw new ErrorType("the program that made this call is over");
  },
  ask: () => [false, '{"message":"the program that made this call is over"}'],
};

/** Asks in place and gives the answer's value; throws what the host says. */
function ask(kind, asked, helper) {
  const payload = encodeJSON(asked);
  checkSize(payload, helper);
  const [ok, answer] = calls.ask(kind, payload);
  if (!ok) throw atLine(errorFrom(answer, helper), asked.line ?? null);
  try {
    return fromJSONText(answer);
  } catch {
    throw new ToolError(`the answer to ${helper} can't be read`, { tool: helper });
  }
}

function checkSize(payload, helper) {
  if (payload.length <= PAYLOAD_CHARS_MAX) return;
  const said = `what ${helper} sends is ${payload.length.toLocaleString()} characters of JSON`;
  throw new ToolError(`${said}; at most ${PAYLOAD_CHARS_MAX.toLocaleString()} can be sent`, {
    tool: helper,
    code: "GM-1208",
    kind: "limit",
  });
}
