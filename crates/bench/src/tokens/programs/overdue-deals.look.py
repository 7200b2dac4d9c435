from servers.hubspot import hubspot_search_objects
result = await hubspot_search_objects(objectType="deals", limit=1)
