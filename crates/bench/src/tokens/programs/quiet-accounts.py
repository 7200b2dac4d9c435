import asyncio
from servers.crm import list_activities

ids = [f"ACC-{number:04}" for number in range(1, 101)]
answers = await asyncio.gather(*(list_activities(record_id=id) for id in ids))
quiet = [
    answer["record_id"] for answer in answers
    if all(one["at"] < "2025-12-17" for one in answer["activities"] if one["kind"] == "call")
]
result = {"accounts": len(answers), "quiet": quiet}
