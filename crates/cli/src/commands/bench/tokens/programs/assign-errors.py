import asyncio, re
from servers.atlassian import jira_create_issue
from servers.sentry import search_issues, update_issue

text = await search_issues(organizationSlug="acme", query="is:unresolved")
issues = re.findall(r"^## \d+\. \[([\w-]+)\].*?\n\n\*\*(.+?)\*\*\n.*?\*\*Users\*\*: (\d+)", text, re.M | re.S)
worst = sorted(issues, key=lambda issue: (-int(issue[2]), issue[0]))[:5]
await asyncio.gather(*(
    update_issue(organizationSlug="acme", issueId=name, assignedTo="team:checkout") for name, _, _ in worst
))
name, title, users = worst[0]
made = await jira_create_issue(project_key="SHOP", summary=title, issue_type="Bug", description=f"{name}, {users} users")
result = {"assigned": [issue[0] for issue in worst], "ticket": re.search(r"SHOP-\d+", str(made)).group()}
