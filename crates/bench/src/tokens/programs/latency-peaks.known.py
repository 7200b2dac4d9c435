from servers.grafana import list_datasources, query_prometheus
sources = await list_datasources(type="prometheus")
answer = await query_prometheus(datasourceUid=sources["datasources"][0]["uid"], queryType="range", expr="shop:latency:p99", startTime="now-25h", endTime="now", stepSeconds=90)
samples, peaks = 0, []
for series in answer["data"]:
    samples += len(series["values"])
    time, value = max(series["values"], key=lambda point: float(point[1]))
    peaks.append((float(value), series["metric"]["service"], series["metric"]["region"], time))
peaks.sort(reverse=True)
result = {"samples": samples, "peaks": [[service, region, time, value] for value, service, region, time in peaks[:3]]}
