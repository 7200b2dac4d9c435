import asyncio
from servers.github import add_issue_comment, list_pull_requests, pull_request_read

place = {"owner": "acme", "repo": "storefront"}
requests = await list_pull_requests(**place, state="open", perPage=100, fields=["number", "draft", "created_at"])
ready = sorted((one for one in requests if not one["draft"]), key=lambda one: one["created_at"])[:8]
numbers = [one["number"] for one in ready]
reviews = await asyncio.gather(*(pull_request_read(**place, method="get_reviews", pullNumber=number) for number in numbers))
waiting = [number for number, given in zip(numbers, reviews) if all(one["state"] != "APPROVED" for one in given)]
text = "This has waited for an approval the longest; could somebody look at it?"
await asyncio.gather(*(add_issue_comment(**place, issue_number=number, body=text) for number in waiting))
result = waiting
