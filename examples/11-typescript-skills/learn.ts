const code = `/** Days on which it rains. */

import { forecast } from "./servers/weather";

export interface WetDay {
  date: string;
  mm: number;
}

/** The days of a forecast with more rain than this, in mm. */
export async function wetDays(city: string, days = 7, moreThan = 1): Promise<WetDay[]> {
  const answer = await forecast({ city, days });
  return answer.days
    .filter((day) => day.precipitation_mm > moreThan)
    .map((day) => ({ date: day.date, mm: day.precipitation_mm }));
}
`;

// It is kept only if its test passes, in a sandbox of its own and against the real server.
const test = `import assert from "node:assert";
import { wetDays } from "skills/wet_days";

const wet = await wetDays("Rome", 3);
assert.equal(wet.length, 3);
assert(wet.every((day) => day.mm > 1));
`;

const saved = saveSkill("wet_days", code, { test, tags: ["weather"] });
export default `${saved.name} is saved as version ${saved.version}`;
