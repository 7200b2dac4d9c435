import { kubectl_logs } from "./servers/kubernetes";

const log = await kubectl_logs({ resourceType: "pod", name: "checkout-7d9f8b6c5-x2x4q", namespace: "shop" });
const lines = log.trimEnd().split("\n");
const levels = {};
for (const line of lines) {
  const level = line.split(" ")[1];
  levels[level] = (levels[level] ?? 0) + 1;
}
const ms = (line) => Number(line.match(/ms=(\d+)/)[1]);
const slowest = lines.reduce((best, line) => (ms(line) > ms(best) ? line : best));
export default { lines: lines.length, levels, slowest };
