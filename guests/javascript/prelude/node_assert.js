// node:assert.

class AssertionError extends Error {
  constructor({ message, actual, expected, operator }) {
    super(message);
    define(this, { code: "ERR_ASSERTION" });
    Object.assign(this, { generatedMessage: false, actual, expected, operator });
  }
}
define(AssertionError.prototype, { name: "AssertionError" });

const ASSERTION_TITLES = {
  "==": "Expected values to be loosely equal:",
  "!=": 'Expected "actual" to be loosely unequal to:',
  strictEqual: "Expected values to be strictly equal:",
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  deepEqual: "Expected values to be loosely deep-equal:",
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
};

function failAssertion(message, actual, expected, operator) {
  if (message instanceof ErrorType) throw message;
  const shown = `${ASSERTION_TITLES[operator] ?? "The assertion failed:"}\n\n${inspect(actual)} !== ${inspect(expected)}\n`;
  throw new AssertionError({ message: message ?? shown, actual, expected, operator });
}

function assert(value, message) {
  if (value) return;
  if (message instanceof ErrorType) throw message;
  const said = message ?? "The expression evaluated to a falsy value";
  throw new AssertionError({ message: said, actual: value, expected: true, operator: "==" });
}

function isExpected(error, expected) {
  if (expected === undefined) return true;
  if (expected instanceof RegExp) return expected.test(`${error}`);
  if (typeof expected === "function") {
    if (expected.prototype !== undefined && error instanceof expected) return true;
    if (ErrorType.isPrototypeOf(expected) || expected === ErrorType) return false;
    return expected.call({}, error) === true;
  }
  return keysOf(expected).every((key) => {
    const wanted = expected[key];
    return wanted instanceof RegExp && typeof error[key] === "string" ? wanted.test(error[key]) : isDeepEqual(error[key], wanted, true);
  });
}

function checkThrown(error, expected, message) {
  if (typeof expected === "string") return;
  if (!isExpected(error, expected)) {
    if (typeof expected === "function" || expected instanceof RegExp) throw error;
    failAssertion(message, error, expected, "throws");
  }
}

Object.assign(assert, {
  AssertionError,
  ok: (value, message) => assert(value, message),
  fail(message) {
    if (message instanceof ErrorType) throw message;
    throw new AssertionError({ message: message ?? "Failed", operator: "fail" });
  },
  equal(actual, expected, message) {
    if (!(actual == expected || (Number.isNaN(actual) && Number.isNaN(expected)))) failAssertion(message, actual, expected, "==");
  },
  notEqual(actual, expected, message) {
    if (actual == expected) failAssertion(message, actual, expected, "!=");
  },
  strictEqual(actual, expected, message) {
    if (!Object.is(actual, expected)) failAssertion(message, actual, expected, "strictEqual");
  },
  notStrictEqual(actual, expected, message) {
    if (Object.is(actual, expected)) failAssertion(message, actual, expected, "notStrictEqual");
  },
  deepEqual(actual, expected, message) {
    if (!isDeepEqual(actual, expected, false)) failAssertion(message, actual, expected, "deepEqual");
  },
  notDeepEqual(actual, expected, message) {
    if (isDeepEqual(actual, expected, false)) failAssertion(message, actual, expected, "notDeepEqual");
  },
  deepStrictEqual(actual, expected, message) {
    if (!isDeepEqual(actual, expected, true)) failAssertion(message, actual, expected, "deepStrictEqual");
  },
  notDeepStrictEqual(actual, expected, message) {
    if (isDeepEqual(actual, expected, true)) failAssertion(message, actual, expected, "notDeepStrictEqual");
  },
  match(text, pattern, message) {
    if (!pattern.test(text)) failAssertion(message ?? `The input did not match the regular expression ${pattern}. Input:\n\n${inspect(text)}\n`, text, pattern, "match");
  },
  doesNotMatch(text, pattern, message) {
    if (pattern.test(text)) failAssertion(message, text, pattern, "doesNotMatch");
  },
  throws(work, expected, message) {
    try {
      work();
    } catch (error) {
      return checkThrown(error, expected, message);
    }
    throw new AssertionError({ message: typeof expected === "string" ? expected : message ?? "Missing expected exception.", operator: "throws" });
  },
  doesNotThrow(work) {
    work();
  },
  async rejects(work, expected, message) {
    try {
      await (typeof work === "function" ? work() : work);
    } catch (error) {
      return checkThrown(error, expected, message);
    }
    throw new AssertionError({ message: message ?? "Missing expected rejection.", operator: "rejects" });
  },
  async doesNotReject(work) {
    await (typeof work === "function" ? work() : work);
  },
  ifError(value) {
    if (value !== null && value !== undefined) throw value;
  },
});
const strictAssert = Object.assign((value, message) => assert(value, message), assert, {
  equal: assert.strictEqual,
  notEqual: assert.notStrictEqual,
  deepEqual: assert.deepStrictEqual,
  notDeepEqual: assert.notDeepStrictEqual,
});
assert.strict = strictAssert;
strictAssert.strict = strictAssert;
