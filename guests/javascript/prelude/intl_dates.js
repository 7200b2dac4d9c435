// Dates for people, in en-US and UTC: toLocaleDateString and its like, Intl.DateTimeFormat, and lists,
// plurals and relative times.

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const DATE_STYLES = {
  full: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
  long: { year: "numeric", month: "long", day: "numeric" },
  medium: { year: "numeric", month: "short", day: "numeric" },
  short: { year: "2-digit", month: "numeric", day: "numeric" },
};
const TIME_STYLES = {
  full: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "long" },
  long: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
  medium: { hour: "numeric", minute: "2-digit", second: "2-digit" },
  short: { hour: "numeric", minute: "2-digit" },
};
const ALL_DATE = { year: "numeric", month: "numeric", day: "numeric" };
const ALL_TIME = { hour: "numeric", minute: "2-digit", second: "2-digit" };
const DATE_KEYS = ["weekday", "year", "month", "day", "era"];
const TIME_KEYS = ["hour", "minute", "second", "fractionalSecondDigits", "dayPeriod"];

function dateOptions(given, defaults) {
  const zone = given.timeZone;
  if (zone !== undefined && !/^(?:etc\/)?(?:utc|gmt|zulu|uct)$|^[+-]00:?00$/i.test(`${zone}`)) {
    throw new RangeError(`times are in UTC here, and there is no data for the time zone ${zone}`);
  }
  if (given.dateStyle !== undefined || given.timeStyle !== undefined) {
    const options = { ...DATE_STYLES[given.dateStyle], ...TIME_STYLES[given.timeStyle], hour12: given.hour12, hourCycle: given.hourCycle };
    return { ...options, joined: given.dateStyle === "full" || given.dateStyle === "long" ? " at " : ", " };
  }
  const asked = (keys) => keys.some((key) => given[key] !== undefined);
  const wantsDate = defaults !== "time" && !asked(DATE_KEYS) && !(defaults !== "date" && asked(TIME_KEYS));
  const wantsTime = defaults !== "date" && !asked(TIME_KEYS) && !(defaults !== "time" && asked(DATE_KEYS));
  const options = { ...given };
  if (wantsDate && !(defaults === "all" && asked(TIME_KEYS))) Object.assign(options, ALL_DATE);
  if (wantsTime && defaults !== "any") Object.assign(options, ALL_TIME);
  return { ...options, joined: ", " };
}

function dateText(date, options) {
  const { weekday, year, month, day } = options;
  const two = (number) => `${number}`.padStart(2, "0");
  const shownYear = year === undefined ? "" : year === "2-digit" ? two(date.getUTCFullYear() % 100) : `${date.getUTCFullYear()}`;
  const shownDay = day === undefined ? "" : day === "2-digit" ? two(date.getUTCDate()) : `${date.getUTCDate()}`;
  const dayName = WEEKDAYS[date.getUTCDay()];
  const shownWeekday = weekday === undefined ? "" : weekday === "long" ? dayName : weekday === "short" ? dayName.slice(0, 3) : dayName[0];
  if (month === "long" || month === "short" || month === "narrow") {
    const name = MONTHS[date.getUTCMonth()];
    const shownMonth = month === "long" ? name : month === "short" ? name.slice(0, 3) : name[0];
    const monthDay = shownDay ? `${shownMonth} ${shownDay}` : shownMonth;
    const withYear = shownYear ? `${monthDay}${shownDay ? "," : ""} ${shownYear}` : monthDay;
    return shownWeekday ? `${shownWeekday}, ${withYear}` : withYear;
  }
  const number = month === undefined ? "" : month === "2-digit" ? two(date.getUTCMonth() + 1) : `${date.getUTCMonth() + 1}`;
  const numbers = [number, shownDay, shownYear].filter(Boolean).join("/");
  if (shownWeekday && day !== undefined && month === undefined && year === undefined) return `${shownDay} ${shownWeekday}`;
  return [shownWeekday, numbers].filter(Boolean).join(", ");
}

function timeText(date, options) {
  const { hour, minute, second, fractionalSecondDigits } = options;
  const two = (number) => `${number}`.padStart(2, "0");
  const is24 = options.hour12 === false || options.hourCycle === "h23" || options.hourCycle === "h24";
  const hours = date.getUTCHours();
  const parts = [];
  if (hour !== undefined) {
    const shown = is24 ? (options.hour12 === false && hours === 0 && options.hourCycle === undefined ? 24 : hours) : hours % 12 || 12;
    parts.push(hour === "2-digit" || is24 ? two(shown) : `${shown}`);
  }
  if (minute !== undefined) parts.push(hour !== undefined || second !== undefined || minute === "2-digit" ? two(date.getUTCMinutes()) : `${date.getUTCMinutes()}`);
  if (second !== undefined) parts.push(minute !== undefined || second === "2-digit" ? two(date.getUTCSeconds()) : `${date.getUTCSeconds()}`);
  let text = parts.join(":");
  if (fractionalSecondDigits) text += `.${`${date.getUTCMilliseconds()}`.padStart(3, "0").slice(0, fractionalSecondDigits)}`;
  if (hour !== undefined && !is24) text += ` ${hours < 12 ? "AM" : "PM"}`;
  if (options.timeZoneName !== undefined && text) text += options.timeZoneName === "long" ? " Coordinated Universal Time" : " UTC";
  return text;
}

function formatDate(value, options) {
  const date = value instanceof Date ? value : new Date(value ?? Date.now());
  if (Number.isNaN(date.getTime())) throw new RangeError("Invalid time value");
  const parts = [dateText(date, options), timeText(date, options)].filter(Boolean);
  return parts.join(options.joined);
}

class DateTimeFormat {
  #options;
  #format;
  constructor(locales = undefined, options = undefined) {
    checkLocales(locales, "Intl.DateTimeFormat");
    this.#options = dateOptions(options ?? {}, "any");
  }
  get format() {
    return (this.#format ??= (value) => formatDate(value, this.#options));
  }
  formatToParts(value) {
    const date = value instanceof Date ? value : new Date(value ?? Date.now());
    const parts = [];
    for (const key of ["weekday", "month", "day", "year"]) {
      if (this.#options[key] !== undefined) parts.push({ type: key, value: dateText(date, { [key]: this.#options[key] }) });
    }
    for (const key of ["hour", "minute", "second"]) {
      if (this.#options[key] === undefined) continue;
      const shown = timeText(date, { [key]: this.#options[key], hour12: this.#options.hour12, hourCycle: this.#options.hourCycle });
      parts.push({ type: key, value: shown.replace(/ [AP]M$/, "").padStart(key === "hour" ? 1 : 2, "0") });
    }
    if (this.#options.hour !== undefined && this.#options.hour12 !== false) parts.push({ type: "dayPeriod", value: date.getUTCHours() < 12 ? "AM" : "PM" });
    return parts;
  }
  resolvedOptions() {
    return { locale: "en-US", calendar: "gregory", numberingSystem: "latn", timeZone: "UTC", ...this.#options };
  }
}

const dateLocales = {
  toLocaleString(locales = undefined, options = undefined) {
    return localeDate(this, locales, options, "all");
  },
  toLocaleDateString(locales = undefined, options = undefined) {
    return localeDate(this, locales, options, "date");
  },
  toLocaleTimeString(locales = undefined, options = undefined) {
    return localeDate(this, locales, options, "time");
  },
};

function localeDate(date, locales, options, defaults) {
  if (locales !== undefined) checkLocales(locales, "toLocaleDateString");
  if (Number.isNaN(date.getTime())) return "Invalid Date";
  return formatDate(date, dateOptions(options ?? {}, defaults));
}

class PluralRules {
  #isOrdinal;
  constructor(locales = undefined, options = undefined) {
    checkLocales(locales, "Intl.PluralRules");
    this.#isOrdinal = options?.type === "ordinal";
  }
  resolvedOptions() {
    const digits = { minimumIntegerDigits: 1, minimumFractionDigits: 0, maximumFractionDigits: 3 };
    const pluralCategories = this.#isOrdinal ? ["few", "one", "two", "other"] : ["one", "other"];
    return { locale: "en-US", type: this.#isOrdinal ? "ordinal" : "cardinal", ...digits, pluralCategories };
  }
  select(number) {
    if (!this.#isOrdinal) return number === 1 ? "one" : "other";
    const [ten, hundred] = [number % 10, number % 100];
    if (ten === 1 && hundred !== 11) return "one";
    if (ten === 2 && hundred !== 12) return "two";
    return ten === 3 && hundred !== 13 ? "few" : "other";
  }
}

class ListFormat {
  #word;
  constructor(locales = undefined, options = undefined) {
    checkLocales(locales, "Intl.ListFormat");
    this.#word = options?.type === "disjunction" ? "or" : options?.type === "unit" ? "" : "and";
  }
  format(items) {
    const list = [...items];
    if (this.#word === "") return list.join(", ");
    if (list.length < 3) return list.join(` ${this.#word} `);
    return `${list.slice(0, -1).join(", ")}, ${this.#word} ${list.at(-1)}`;
  }
}

class RelativeTimeFormat {
  #auto;
  constructor(locales = undefined, options = undefined) {
    checkLocales(locales, "Intl.RelativeTimeFormat");
    this.#auto = options?.numeric === "auto";
  }
  format(value, unit) {
    const name = `${unit}`.replace(/s$/, "");
    if (this.#auto && name === "day" && Math.abs(value) <= 1) return ["yesterday", "today", "tomorrow"][value + 1];
    if (this.#auto && Math.abs(value) <= 1 && name !== "second") return [`last ${name}`, `this ${name}`, `next ${name}`][value + 1];
    const count = formatNumber(Math.abs(value), numberOptions({}));
    const units = Math.abs(value) === 1 ? name : `${name}s`;
    return value < 0 || Object.is(value, -0) ? `${count} ${units} ago` : `in ${count} ${units}`;
  }
}

/** The older constructors make one without `new`, too. */
function withoutNew(Type) {
  const made = new Proxy(Type, { apply: (type, self, args) => Reflect.construct(type, args) });
  define(Type.prototype, { constructor: made });
  return made;
}

const intl = define({}, {
  NumberFormat: withoutNew(NumberFormat), DateTimeFormat: withoutNew(DateTimeFormat), Collator: withoutNew(Collator),
  PluralRules, ListFormat, RelativeTimeFormat,
  getCanonicalLocales: (locales) => (typeof locales === "string" ? [locales] : [...(locales ?? [])]),
  supportedValuesOf: () => [],
});
for (const Type of [NumberFormat, DateTimeFormat, Collator, PluralRules, ListFormat, RelativeTimeFormat]) {
  define(Type, { supportedLocalesOf: (locales) => intl.getCanonicalLocales(locales).filter((locale) => /^en(-US)?$/i.test(locale)) });
}
