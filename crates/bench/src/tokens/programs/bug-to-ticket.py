import re
from servers.atlassian import jira_create_issue
from servers.github import add_issue_comment, issue_read, list_issues

issues, after, more = [], None, True
while more:
    page = await list_issues(owner="acme", repo="storefront", after=after)
    issues += page["issues"]
    after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
bugs = [issue for issue in issues if issue["state"] == "OPEN" and "bug" in issue["labels"]]
bug = max(bugs, key=lambda issue: issue["comments"])
said = await issue_read(issue_number=bug["number"], method="get_comments", owner="acme", repo="storefront")
lines = "\n".join(f"- {one['user']['login']}: {one['body']}" for one in said)
made = await jira_create_issue(project_key="SHOP", summary=bug["title"], issue_type="Bug", description=lines)
key = re.search(r"SHOP-\d+", str(made)).group()
await add_issue_comment(issue_number=bug["number"], owner="acme", repo="storefront", body=f"Tracked as {key}.")
result = {"issue": bug["number"], "ticket": key, "comments": len(said)}
