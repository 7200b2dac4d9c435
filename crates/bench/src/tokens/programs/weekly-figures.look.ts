import { jira_search } from "./servers/atlassian";
import { list_issues, search_pull_requests } from "./servers/github";
import { find_organizations } from "./servers/sentry";
export default {
  issues: await list_issues({ owner: "acme", repo: "storefront" }),
  requests: JSON.stringify(await search_pull_requests({ query: "repo:acme/storefront is:open" })),
  organizations: JSON.stringify(await find_organizations()),
  done: JSON.stringify(await jira_search({ jql: "project = SHOP AND status = Done AND updated >= -7d", limit: 1 })),
};
