import asyncio
from collections import Counter
from servers.github import issue_read, list_issues

place = {"owner": "acme", "repo": "basket"}
page = await list_issues(**place, state="OPEN", perPage=50, fields=["number"])
answers = await asyncio.gather(*(
    issue_read(**place, method="get_comments", issue_number=issue["number"]) for issue in page["issues"]
))
counts = Counter(comment["user"]["login"] for comments in answers for comment in comments)
top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
result = {"issues": len(answers), "most": [list(one) for one in top]}
