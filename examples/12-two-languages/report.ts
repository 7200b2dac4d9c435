// What a Python program left in this session: a file, and values.
const rows: { region: string; cents: string }[] = JSON.parse(readFile("sales.json"));

const totals: Record<string, number> = {};
for (const { region, cents } of rows) totals[region] = (totals[region] ?? 0) + Number(cents);
const money = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
for (const region of Object.keys(totals).sort()) {
  console.log(region.padEnd(6), (totals[region] / 100).toLocaleString("en-US", money).padStart(10));
}

state.totals = totals;
state.programs = [...state.programs, "report.ts"];
export default `${rows.length} rows added up`;
