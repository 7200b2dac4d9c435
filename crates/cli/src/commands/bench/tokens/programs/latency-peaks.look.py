from servers.grafana import list_datasources, query_prometheus
sources = await list_datasources(type="prometheus")
series = await query_prometheus(datasourceUid=sources["datasources"][0]["uid"], queryType="range", expr="shop:latency:p99", startTime="now-1h", endTime="now", stepSeconds=90)
print(str(sources)[:200], str(series)[:300], sep="\n")
