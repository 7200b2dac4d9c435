import asyncio, re
from servers.atlassian import jira_search
from servers.github import list_issues, list_pull_requests
from servers.sentry import find_organizations, search_issues

organization = re.search(r"\*\*([\w-]+)\*\*", str(await find_organizations())).group(1)

async def figures(repo):
    issues, requests = await asyncio.gather(
        list_issues(owner="acme", repo=repo, state="OPEN", perPage=1, fields=["number"]),
        list_pull_requests(owner="acme", repo=repo, state="open", perPage=100, fields=["number"]),
    )
    return {"repo": repo, "open_issues": issues["totalCount"], "open_pull_requests": len(requests)}

repos, errors, done = await asyncio.gather(
    asyncio.gather(*(figures(repo) for repo in ("storefront", "basket", "payments"))),
    search_issues(organizationSlug=organization, query="is:unresolved is:new"),
    jira_search(jql="project = SHOP AND status = Done AND updated >= -7d", limit=1, fields="summary"),
)
result = {
    "repos": list(repos),
    "new_errors": int(re.search(r"Found \**(\d+)", str(errors)).group(1)),
    "done": int(re.search(r"total\W+(\d+)", str(done)).group(1)),
}
