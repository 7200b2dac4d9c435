// Numbers for people, in en-US: toLocaleString and Intl.NumberFormat.

const CURRENCY_SIGNS = { USD: "$", EUR: "€", GBP: "£", JPY: "¥", INR: "₹", CNY: "CN¥", KRW: "₩", BRL: "R$", CAD: "CA$", AUD: "A$", MXN: "MX$", NZD: "NZ$", ILS: "₪", VND: "₫", TWD: "NT$", HKD: "HK$" };
const NO_CENTS = ["JPY", "KRW", "VND", "CLP", "ISK"];
const COMPACT = [[1e12, "T", " trillion"], [1e9, "B", " billion"], [1e6, "M", " million"], [1e3, "K", " thousand"]];
const UNITS = { percent: "%", celsius: "°C", fahrenheit: "°F", kilometer: " km", meter: " m", centimeter: " cm", mile: " mi", kilogram: " kg", gram: " g", pound: " lb", liter: " L", second: " sec", minute: " min", hour: " hr", day: " day", byte: " byte", kilobyte: " kB", megabyte: " MB", gigabyte: " GB", "kilometer-per-hour": " km/h", "mile-per-hour": " mph" };

class NumberFormat {
  #options;
  #format;
  constructor(locales = undefined, options = undefined) {
    checkLocales(locales, "Intl.NumberFormat");
    this.#options = numberOptions(options ?? {});
  }
  /** Bound, so that it can be handed to `map`. */
  get format() {
    return (this.#format ??= (value) => formatNumber(value, this.#options));
  }
  formatToParts(value) {
    return [{ type: "literal", value: this.format(value) }];
  }
  resolvedOptions() {
    return { locale: "en-US", numberingSystem: "latn", ...this.#options };
  }
}

function numberOptions(given) {
  const { style = "decimal", currency, notation = "standard" } = given;
  if (style === "currency" && currency === undefined) throw new TypeError("Currency code is required with currency style.");
  if (style === "unit" && given.unit === undefined) throw new TypeError("Unit is required with unit style.");
  const code = currency === undefined ? undefined : `${currency}`.toUpperCase();
  if (code !== undefined && !/^[A-Z]{3}$/.test(code)) throw new RangeError(`Invalid currency code : ${currency}`);
  const cents = NO_CENTS.includes(code) ? 0 : 2;
  const usual = style === "currency" ? [cents, cents] : style === "percent" ? [0, 0] : [0, 3];
  const isRounded = notation === "compact" && given.minimumFractionDigits === undefined && given.maximumFractionDigits === undefined;
  const least = digits(given.minimumFractionDigits, "minimumFractionDigits");
  const most = digits(given.maximumFractionDigits, "maximumFractionDigits");
  const minimum = least ?? Math.min(usual[0], most ?? usual[0]);
  const maximum = most ?? Math.max(usual[1], minimum);
  if (minimum > maximum) throw new RangeError("maximumFractionDigits value is out of range.");
  return { ...given, style, currency: code, notation, isRounded, minimumFractionDigits: minimum, maximumFractionDigits: maximum };
}

function digits(value, name) {
  if (value === undefined) return undefined;
  const count = Number(value);
  if (!(count >= 0 && count <= 100)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(count);
}

function formatNumber(value, options) {
  const number = typeof value === "bigint" ? value : Number(value);
  if (Number.isNaN(number)) return "NaN";
  const isNegative = number < 0 || Object.is(number, -0);
  let size = isNegative ? -number : number;
  let suffix = "";
  if (options.style === "percent") size = Number(size) * 100;
  if (options.notation === "compact") [size, suffix] = compacted(Number(size), options);
  let text = size === Infinity ? "∞" : rounded(size, options);
  if (options.useGrouping !== false && options.useGrouping !== "false") {
    if (!(options.notation === "compact" && text.replace(/\..*/, "").length < 5)) text = grouped(text);
  }
  text += suffix;
  if (options.style === "percent") text += "%";
  if (options.style === "unit") text += UNITS[options.unit] ?? ` ${options.unit}`;
  return signed(text, isNegative, options);
}

function signed(text, isNegative, options) {
  const isZero = !/[1-9∞]/.test(text);
  const display = options.signDisplay ?? "auto";
  const minus = isNegative && display !== "never" && !(isZero && (display === "exceptZero" || display === "negative"));
  const plus = !isNegative && (display === "always" || (display === "exceptZero" && !isZero));
  const sign = minus ? "-" : plus ? "+" : "";
  if (options.style !== "currency") return sign + text;
  const { currency, currencyDisplay = "symbol" } = options;
  if (currencyDisplay === "name") return `${sign}${text} ${currency}`;
  const shown = currencyDisplay === "code" || CURRENCY_SIGNS[currency] === undefined ? `${currency}\u00a0` : CURRENCY_SIGNS[currency];
  if (minus && options.currencySign === "accounting") return `(${shown}${text})`;
  return `${sign}${shown}${text}`;
}

function compacted(size, options) {
  for (const [unit, short, long] of COMPACT) {
    if (size >= unit * 0.9995 || size >= unit) return [size / unit, options.compactDisplay === "long" ? long : short];
  }
  return [size, ""];
}

function rounded(size, options) {
  if (options.minimumSignificantDigits !== undefined || options.maximumSignificantDigits !== undefined) {
    const most = options.maximumSignificantDigits ?? 21;
    return significant(Number(size), options.minimumSignificantDigits ?? 1, most);
  }
  if (typeof size === "bigint") {
    return options.minimumFractionDigits ? `${size}.${"0".repeat(options.minimumFractionDigits)}` : `${size}`;
  }
  if (options.isRounded) return size < 100 ? significant(size, 1, 2) : `${Math.round(size)}`;
  return fixed(size, options);
}

function fixed(size, { minimumFractionDigits, maximumFractionDigits, minimumIntegerDigits = 1 }) {
  let text = size >= 1e21 ? BigInt(size).toString() : halfExpanded(size, maximumFractionDigits);
  if (text.includes(".")) {
    let [whole, fraction] = text.split(".");
    while (fraction.length > minimumFractionDigits && fraction.endsWith("0")) fraction = fraction.slice(0, -1);
    text = fraction ? `${whole}.${fraction}` : whole;
  }
  const at = text.indexOf(".");
  const whole = at === -1 ? text : text.slice(0, at);
  return whole.padStart(minimumIntegerDigits, "0") + (at === -1 ? "" : text.slice(at));
}

/** Halves go away from zero, of the number as it is written: 1.005 is 1.01, which toFixed would not say. */
function halfExpanded(size, count) {
  const written = `${size}`;
  if (written.includes("e")) return size.toFixed(Math.min(count, 100));
  const [whole, fraction = ""] = written.split(".");
  if (fraction.length <= count) return count === 0 ? whole : `${whole}.${fraction.padEnd(count, "0")}`;
  let scaled = BigInt(whole + fraction.slice(0, count));
  if (fraction[count] >= "5") scaled += 1n;
  const text = scaled.toString().padStart(count + 1, "0");
  return count === 0 ? text : `${text.slice(0, -count)}.${text.slice(-count)}`;
}

function significant(size, least, most) {
  if (size === 0) return "0";
  let text = Number(size.toPrecision(Math.min(most, 100))).toString();
  if (text.includes("e")) text = BigInt(Math.round(Number(text))).toString();
  const count = text.replace(".", "").replace(/^0+/, "").length;
  if (count < least) text += (text.includes(".") ? "" : ".") + "0".repeat(least - count);
  return text;
}

function grouped(text) {
  const [whole, fraction] = text.split(".");
  const parted = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return fraction === undefined ? parted : `${parted}.${fraction}`;
}

const numberLocales = {
  toLocaleString(locales = undefined, options = undefined) {
    if (locales !== undefined) checkLocales(locales, "toLocaleString");
    return formatNumber(this.valueOf(), numberOptions(options ?? {}));
  },
};
