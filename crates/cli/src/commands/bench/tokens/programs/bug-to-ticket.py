import re
from servers.atlassian import jira_create_issue
from servers.github import add_issue_comment, issue_read, list_issues

place = {"owner": "acme", "repo": "storefront"}
page = await list_issues(**place, state="OPEN", labels=["bug"], perPage=100, fields=["number", "title", "comments"])
bug = max(page["issues"], key=lambda issue: issue["comments"])
said = await issue_read(**place, method="get_comments", issue_number=bug["number"])
lines = "\n".join(f"- {one['user']['login']}: {one['body']}" for one in said)
made = await jira_create_issue(project_key="SHOP", summary=bug["title"], issue_type="Bug", description=lines)
key = re.search(r"SHOP-\d+", str(made)).group()
await add_issue_comment(**place, issue_number=bug["number"], body=f"Tracked as {key}.")
result = {"issue": bug["number"], "ticket": key, "comments": len(said)}
