import { jira_create_issue } from "./servers/atlassian";
import { update_issue } from "./servers/sentry";

const worst = ["SHOP-2986", "SHOP-2860", "SHOP-2853", "SHOP-2958", "SHOP-2888"];
await Promise.all(worst.map((issueId) => update_issue({ organizationSlug: "acme", issueId, assignedTo: "team:checkout" })));
const made = await jira_create_issue({ project_key: "SHOP", summary: "JSONDecodeError: Expecting value: line 1 column 1 (char 0)", issue_type: "Bug", description: "SHOP-2986, 389 users" });
const ticket = JSON.stringify(made).match(/SHOP-\d+/g).find((key) => !worst.includes(key));
export default { assigned: worst, ticket };
