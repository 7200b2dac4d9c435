from servers.sentry import find_organizations, search_issues
print(await find_organizations())
print(str(await search_issues(organizationSlug="acme", query="is:unresolved"))[:500])
