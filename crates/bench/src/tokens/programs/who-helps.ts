import { issue_read, list_issues } from "./servers/github";

const issues = [];
let after, more = true;
while (more && issues.length < 50) {
  const page = await list_issues({ owner: "acme", repo: "basket", after });
  issues.push(...page.issues.filter((issue) => issue.state === "OPEN").map((issue) => issue.number));
  ({ endCursor: after, hasNextPage: more } = page.pageInfo);
}
const answers = await Promise.all(issues.slice(0, 50).map((issue_number) => issue_read({ issue_number, method: "get_comments", owner: "acme", repo: "basket" })));
const counts = {};
for (const { user } of answers.flat()) counts[user.login] = (counts[user.login] ?? 0) + 1;
const most = Object.entries(counts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 3);
export default { issues: answers.length, most };
