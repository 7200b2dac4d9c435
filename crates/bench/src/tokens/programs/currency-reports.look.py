from servers.github import list_issues
result = await list_issues(owner="acme", repo="storefront")
