import asyncio, re
from servers.atlassian import jira_create_issue
from servers.sentry import update_issue

worst = ["SHOP-2986", "SHOP-2860", "SHOP-2853", "SHOP-2958", "SHOP-2888"]
await asyncio.gather(*(update_issue(organizationSlug="acme", issueId=name, assignedTo="team:checkout") for name in worst))
made = await jira_create_issue(project_key="SHOP", summary="JSONDecodeError: Expecting value: line 1 column 1 (char 0)", issue_type="Bug", description="SHOP-2986, 389 users")
ticket = next(key for key in re.findall(r"SHOP-\d+", str(made)) if key not in worst)
result = {"assigned": worst, "ticket": ticket}
