import { jira_create_issue } from "./servers/atlassian";
import { add_issue_comment, issue_read, list_issues } from "./servers/github";

const issues = [];
let after, more = true;
while (more) {
  const page = await list_issues({ owner: "acme", repo: "storefront", after });
  issues.push(...page.issues);
  ({ endCursor: after, hasNextPage: more } = page.pageInfo);
}
const bugs = issues.filter((issue) => issue.state === "OPEN" && issue.labels.includes("bug"));
const bug = bugs.reduce((best, one) => (one.comments > best.comments ? one : best));
const said = await issue_read({ issue_number: bug.number, method: "get_comments", owner: "acme", repo: "storefront" });
const lines = said.map((one) => `- ${one.user.login}: ${one.body}`).join("\n");
const made = await jira_create_issue({ project_key: "SHOP", summary: bug.title, issue_type: "Bug", description: lines });
const ticket = JSON.stringify(made).match(/SHOP-\d+/)[0];
await add_issue_comment({ issue_number: bug.number, owner: "acme", repo: "storefront", body: `Tracked as ${ticket}.` });
export default { issue: bug.number, ticket, comments: said.length };
