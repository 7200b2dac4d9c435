import re
from servers.atlassian import jira_create_issue
from servers.grafana import list_datasources, query_prometheus
from servers.kubernetes import kubectl_get, kubectl_logs

sources = await list_datasources(type="prometheus")
rate = await query_prometheus(datasourceUid=sources["datasources"][0]["uid"], queryType="instant", endTime="now", expr="sum by (service) (rate(errors_total[5m]))")
worst = max(rate["data"], key=lambda series: float(series["value"][1]))["metric"]["service"]
pods = (await kubectl_get(resourceType="pods", namespace_="shop", labelSelector=f"app={worst}"))["items"]
pod = next((pod for pod in pods if pod["status"] != "Running"), pods[0])["name"]
log = await kubectl_logs(resourceType="pod", name=pod, namespace_="shop", tail=40)
errors = [line for line in str(log).splitlines() if "error" in line.lower()]
made = await jira_create_issue(project_key="OPS", summary=f"Errors in {worst}", issue_type="Bug", description="\n".join(errors))
result = {"service": worst, "pod": pod, "errors": len(errors), "ticket": re.search(r"OPS-\d+", str(made)).group()}
