from collections import Counter
from servers.github import list_issues

counts, read, after = Counter(), 0, None
while True:
    page = await list_issues(owner="acme", repo="storefront", perPage=100, **({"after": after} if after else {}))
    for issue in page["issues"]:
        read += 1
        if "currency" in issue["body"]:
            counts.update(issue["labels"])
    if not page["pageInfo"]["hasNextPage"]:
        break
    after = page["pageInfo"]["endCursor"]
result = {"read": read, "labels": dict(sorted(counts.items()))}
