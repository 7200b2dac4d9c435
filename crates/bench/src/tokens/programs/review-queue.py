import asyncio
from servers.github import add_issue_comment, list_pull_requests, pull_request_read

page = await list_pull_requests(owner="acme", repo="storefront", state="open", sort="created", direction="asc", perPage=20)
rows = page if isinstance(page, list) else next(value for value in page.values() if isinstance(value, list))
numbers = [row["number"] for row in rows if not row["draft"]][:8]
reviews = await asyncio.gather(*(
    pull_request_read(method="get_reviews", owner="acme", repo="storefront", pullNumber=number) for number in numbers
))
waiting = [number for number, given in zip(numbers, reviews) if "APPROVED" not in str(given)]
text = "This has waited for an approval the longest; could somebody look at it?"
await asyncio.gather(*(add_issue_comment(owner="acme", repo="storefront", issue_number=number, body=text) for number in waiting))
result = waiting
