import { query_prometheus } from "./servers/grafana";
const answer = await query_prometheus({ datasourceUid: "prometheus-prod-uid", queryType: "range", expr: "shop:latency:p99", startTime: "now-25h", endTime: "now", stepSeconds: 90 });
const peaks = answer.data.map(({ metric, values }) => {
  const [time, value] = values.reduce((best, point) => (Number(point[1]) > Number(best[1]) ? point : best));
  return [metric.service, metric.region, time, Number(value)];
});
peaks.sort((a, b) => b[3] - a[3] || (a[0] < b[0] ? 1 : -1));
export default { samples: answer.data.reduce((sum, one) => sum + one.values.length, 0), peaks: peaks.slice(0, 3) };
