from servers.atlassian import jira_search
from servers.github import list_issues, search_pull_requests
from servers.sentry import find_organizations
result = {
    "issues": await list_issues(owner="acme", repo="storefront"),
    "requests": str(await search_pull_requests(query="repo:acme/storefront is:open")),
    "organizations": str(await find_organizations()),
    "done": str(await jira_search(jql="project = SHOP AND status = Done AND updated >= -7d", limit=1)),
}
