// Comparing text as people sort it: letters before their case, accents after letters, digits before
// letters, punctuation before digits. Near enough to what a browser does for en-US.

const COLLATION_PLAIN = /^[\x20-\x7e]*$/;

/** A key for each character: its group, its letter, and what tells letters apart that are the same. */
function collationKey(character) {
  const base = character.normalize("NFD");
  const letter = base[0].toLowerCase();
  const group = /\p{L}/u.test(letter) ? 3 : /\p{N}/u.test(letter) ? 2 : /\s/u.test(letter) ? 0 : 1;
  return { group, letter, accent: base.slice(1), isUpper: character !== character.toLowerCase() };
}

const PUNCTUATION = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

function comparePrimary(one, other) {
  if (one.group !== other.group) return one.group - other.group;
  if (one.letter === other.letter) return 0;
  if (one.group === 1) {
    const [first, second] = [PUNCTUATION.indexOf(one.letter), PUNCTUATION.indexOf(other.letter)];
    if (first !== -1 && second !== -1) return first - second;
  }
  return one.letter < other.letter ? -1 : 1;
}

function compareText(one, other, options) {
  if (one === other) return 0;
  const { numeric = false, sensitivity = "variant", caseFirst } = options;
  const left = collationKeys(one, numeric);
  const right = collationKeys(other, numeric);
  let accents = 0;
  let cases = 0;
  const shared = Math.min(left.length, right.length);
  for (let index = 0; index < shared; index++) {
    const [first, second] = [left[index], right[index]];
    const primary =
      first.number !== undefined && second.number !== undefined ? first.number - second.number : comparePrimary(first, second);
    if (primary !== 0) return primary < 0 ? -1 : 1;
    if (accents === 0 && first.accent !== second.accent) accents = first.accent < second.accent ? -1 : 1;
    if (cases === 0 && first.isUpper !== second.isUpper) cases = first.isUpper ? 1 : -1;
  }
  if (left.length !== right.length) return left.length < right.length ? -1 : 1;
  if (accents !== 0 && (sensitivity === "accent" || sensitivity === "variant")) return accents;
  if (cases !== 0 && (sensitivity === "case" || sensitivity === "variant")) return caseFirst === "upper" ? -cases : cases;
  return 0;
}

function collationKeys(text, numeric) {
  const keys = [];
  const pieces = numeric ? text.match(/\d+|[^\d]/gsu) ?? [] : text.normalize("NFC");
  for (const piece of pieces) {
    if (numeric && /^\d+$/.test(piece)) keys.push({ group: 2, letter: "0", accent: "", isUpper: false, number: Number(piece) });
    else keys.push(collationKey(piece));
  }
  return keys;
}

function checkLocales(locales, what) {
  const wanted = typeof locales === "string" ? [locales] : [...(locales ?? [])];
  for (const locale of wanted) {
    let text = `${locale}`;
    if (!/^[a-zA-Z]{2,8}(?:[-_][a-zA-Z0-9]{1,8})*$/.test(text)) throw new RangeError(`Incorrect locale information provided`);
    if (/^en(?:-US)?(?:-u-.*)?$/i.test(text)) return;
  }
  if (wanted.length === 0) return;
  throw new RangeError(`${what} knows en-US alone here, not ${wanted[0]}: leave the locale out, or format by hand`);
}

/** Plain letters and digits of one case compare by their codes: most of what programs sort. */
const SIMPLE = /^[a-z0-9 ]*$/;

class Collator {
  #options;
  #compare;
  constructor(locales = undefined, options = undefined) {
    checkLocales(locales, "Intl.Collator");
    this.#options = { ...options };
  }
  /** Bound, so that it can be handed to `sort`. */
  get compare() {
    return (this.#compare ??= (one, other) => compareText(`${one}`, `${other}`, this.#options));
  }
  resolvedOptions() {
    return { locale: "en-US", usage: "sort", sensitivity: "variant", numeric: false, ...this.#options };
  }
}

const { localeCompare } = {
  localeCompare(other, locales = undefined, options = undefined) {
    if (this === undefined || this === null) throw new TypeError("String.prototype.localeCompare called on null or undefined");
    const [one, two] = [`${this}`, `${other}`];
    if (locales !== undefined) checkLocales(locales, "localeCompare");
    if (options === undefined && SIMPLE.test(one) && SIMPLE.test(two)) return one < two ? -1 : one > two ? 1 : 0;
    return compareText(one, two, options ?? {});
  },
};
