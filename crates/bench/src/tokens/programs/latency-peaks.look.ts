import { list_datasources, query_prometheus } from "./servers/grafana";
const sources = JSON.stringify(await list_datasources({ type: "prometheus" }));
const uid = sources.match(/uid\W+([\w-]+)/i)[1];
const series = await query_prometheus({ datasourceUid: uid, queryType: "range", expr: "shop:latency:p99", startTime: "now-1h", endTime: "now", stepSeconds: 90 });
console.log(`${sources.slice(0, 200)}\n${JSON.stringify(series).slice(0, 300)}`);
