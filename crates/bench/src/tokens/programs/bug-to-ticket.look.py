from servers.github import issue_read, list_issues
result = [
    await list_issues(owner="acme", repo="storefront"),
    *[await issue_read(issue_number=n, method="get_comments", owner="acme", repo="storefront") for n in range(1, 6)],
]
