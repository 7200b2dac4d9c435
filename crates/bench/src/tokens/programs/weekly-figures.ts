import { jira_search } from "./servers/atlassian";
import { list_issues, search_pull_requests } from "./servers/github";
import { search_issues } from "./servers/sentry";

const repos = {};
for (const repo of ["storefront", "basket", "payments"]) {
  let issues = 0, after, more = true;
  while (more) {
    const page = await list_issues({ owner: "acme", repo, after });
    issues += page.issues.filter((issue) => issue.state === "OPEN").length;
    ({ endCursor: after, hasNextPage: more } = page.pageInfo);
  }
  const requests = await search_pull_requests({ query: `repo:acme/${repo} is:open` });
  repos[repo] = [issues, requests.total_count];
}
const errors = await search_issues({ organizationSlug: "acme", query: "is:unresolved is:new", limit: 100 });
const done = await jira_search({ jql: "project = SHOP AND status = Done AND updated >= -7d", limit: 1 });
export default { repos, new_errors: String(errors).slice(0, 80), done: done.total };
