from servers.atlassian import jira_search
from servers.github import list_issues, search_pull_requests
from servers.sentry import search_issues

repos = {}
for repo in ("storefront", "basket", "payments"):
    issues, after, more = 0, None, True
    while more:
        page = await list_issues(owner="acme", repo=repo, after=after)
        issues += sum(issue["state"] == "OPEN" for issue in page["issues"])
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
    requests = await search_pull_requests(query=f"repo:acme/{repo} is:open")
    repos[repo] = [issues, requests["total_count"]]
errors = await search_issues(organizationSlug="acme", query="is:unresolved is:new", limit=100)
done = await jira_search(jql="project = SHOP AND status = Done AND updated >= -7d", limit=1)
result = {"repos": repos, "new_errors": str(errors)[:80], "done": done["total"]}
