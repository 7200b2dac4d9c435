from servers.github import issue_read, list_issues
result = [
    await list_issues(owner="acme", repo="basket"),
    *[await issue_read(issue_number=n, method="get_comments", owner="acme", repo="basket") for n in range(1, 6)],
]
