from servers.sentry import search_issues
result = await search_issues(organizationSlug="acme", query="is:unresolved", sort="user", limit=5)
