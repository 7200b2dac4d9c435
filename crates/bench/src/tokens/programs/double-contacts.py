from collections import Counter
from servers.hubspot import hubspot_list_objects

contacts, after = [], None
while True:
    page = await hubspot_list_objects(objectType="contacts", limit=500, after=after, properties=["email"])
    contacts += page["results"]
    after = page.get("paging", {}).get("next", {}).get("after")
    if not after:
        break
counts = Counter(contact["properties"]["email"].lower() for contact in contacts)
double = sorted(email for email, count in counts.items() if count > 1)
result = {"contacts": len(contacts), "double": len(double), "first": double[:3]}
