import { jira_create_issue } from "./servers/atlassian";
import { query_prometheus } from "./servers/grafana";
import { kubectl_get, kubectl_logs } from "./servers/kubernetes";

const rate = await query_prometheus({ datasourceUid: "prometheus-prod-uid", queryType: "instant", endTime: "now", expr: "sum by (service) (rate(errors_total[5m]))" });
const service = rate.data.reduce((worst, one) => (Number(one.value[1]) > Number(worst.value[1]) ? one : worst)).metric.service;
const pods = (await kubectl_get({ resourceType: "pods", namespace: "shop", labelSelector: `app=${service}` })).items;
const pod = (pods.find((one) => one.status !== "Running") ?? pods[0]).name;
const log = await kubectl_logs({ resourceType: "pod", name: pod, namespace: "shop", tail: 40 });
const errors = String(log).split("\n").filter((line) => line.toLowerCase().includes("error"));
const made = await jira_create_issue({ project_key: "OPS", summary: `Errors in ${service}`, issue_type: "Bug", description: errors.join("\n") });
export default { service, pod, errors: errors.length, ticket: JSON.stringify(made).match(/OPS-\d+/)[0] };
