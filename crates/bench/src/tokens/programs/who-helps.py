import asyncio
from collections import Counter
from servers.github import issue_read, list_issues

issues, after, more = [], None, True
while more and len(issues) < 50:
    page = await list_issues(owner="acme", repo="basket", after=after)
    issues += [issue["number"] for issue in page["issues"] if issue["state"] == "OPEN"]
    after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
answers = await asyncio.gather(*(
    issue_read(issue_number=number, method="get_comments", owner="acme", repo="basket") for number in issues[:50]
))
counts = Counter(comment["user"]["login"] for comments in answers for comment in comments)
top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
result = {"issues": len(answers), "most": top}
