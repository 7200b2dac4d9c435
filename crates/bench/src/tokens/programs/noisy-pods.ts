import { kubectl_get, kubectl_logs } from "./servers/kubernetes";

const list = JSON.stringify(await kubectl_get({ resourceType: "pods", namespace: "shop", output: "name" }));
const pods = [...list.matchAll(/pod\/([\w-]+)/g)].map((match) => match[1]);
const counts = await Promise.all(pods.map(async (name) => {
  const log = await kubectl_logs({ resourceType: "pod", name, namespace: "shop", tail: 20 });
  return [name, String(log).split("\n").filter((line) => line.toLowerCase().includes("error")).length];
}));
const errors = counts.reduce((sum, [, count]) => sum + count, 0);
counts.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
export default { pods: pods.length, errors, most: counts.slice(0, 3) };
