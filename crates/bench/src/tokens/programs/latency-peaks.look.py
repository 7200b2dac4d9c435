import re
from servers.grafana import list_datasources, query_prometheus
sources = str(await list_datasources(type="prometheus"))
uid = re.search(r"uid\W+([\w-]+)", sources, re.I).group(1)
series = await query_prometheus(datasourceUid=uid, queryType="range", expr="shop:latency:p99", startTime="now-1h", endTime="now", stepSeconds=90)
print(sources[:200], str(series)[:300], sep="\n")
