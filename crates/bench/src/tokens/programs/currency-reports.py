from collections import Counter
from servers.github import list_issues

labels, read, after, more = Counter(), 0, None, True
while more:
    page = await list_issues(owner="acme", repo="storefront", after=after)
    for issue in page["issues"]:
        read += 1
        if "currency" in issue["body"]:
            labels.update(issue["labels"])
    after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
result = {"read": read, "labels": dict(sorted(labels.items()))}
