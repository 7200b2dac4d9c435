from servers.grafana import list_datasources, query_prometheus
from servers.kubernetes import kubectl_get

sources = await list_datasources(type="prometheus")
uid = sources["datasources"][0]["uid"]
rate = await query_prometheus(datasourceUid=uid, queryType="instant", endTime="now", expr="sum by (service) (rate(errors_total[5m]))")
pods = await kubectl_get(resourceType="pods", namespace_="shop")
print(str(sources)[:200], str(rate)[:200], str(pods)[:200], sep="\n")
