import asyncio
from servers.hubspot import hubspot_batch_update_objects, hubspot_create_engagement, hubspot_search_objects

deals, after = [], None
while True:
    page = await hubspot_search_objects(objectType="deals", limit=100, after=after)
    deals += page["results"]
    after = page.get("paging", {}).get("next", {}).get("after")
    if not after:
        break
overdue = [
    deal for deal in deals
    if not deal["properties"]["dealstage"].startswith("closed") and deal["properties"]["closedate"] < "2026-06-15"
]
overdue.sort(key=lambda deal: -int(deal["properties"]["amount"]))
largest = overdue[:3]
inputs = [{"id": deal["id"], "properties": {"closedate": "2026-06-30"}} for deal in largest]
await hubspot_batch_update_objects(objectType="deals", inputs=inputs)
await asyncio.gather(*(
    hubspot_create_engagement(
        type="TASK", ownerId=7, associations={"dealIds": [int(deal["id"])]},
        metadata={"subject": f"Call about {deal['properties']['dealname']}"},
    )
    for deal in largest
))
result = {"overdue": len(overdue), "moved": [deal["properties"]["dealname"] for deal in largest]}
