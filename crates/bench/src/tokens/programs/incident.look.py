import re
from servers.grafana import list_datasources, query_prometheus
from servers.kubernetes import kubectl_get

sources = str(await list_datasources(type="prometheus"))
uid = re.search(r"uid\W+([\w-]+)", sources, re.I).group(1)
rate = await query_prometheus(datasourceUid=uid, queryType="instant", endTime="now", expr="sum by (service) (rate(errors_total[5m]))")
pods = await kubectl_get(resourceType="pods", namespace_="shop")
print(sources[:200], str(rate)[:150], str(pods)[:200], sep="\n")
