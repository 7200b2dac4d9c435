// attack: patterns in every method that takes one, on text that makes them slow
// expect: limit:wall_time | limit:cpu_time
// forbid: PWNED
// timeout_ms: 1200
enum Way { Match, Replace, Split, Search }
const text: string = " ".repeat(200_000) + "x";
const slow = /\s+$/g as RegExp;
const run: Record<Way, () => unknown> = {
  [Way.Match]: () => text.match(slow),
  [Way.Replace]: () => text.replaceAll(slow, ""),
  [Way.Split]: () => text.split(slow),
  [Way.Search]: () => text.search(slow),
};
for (const way of [Way.Match, Way.Replace, Way.Split, Way.Search]) run[way]();
console.log("PW" + "NED: it came to an end");
