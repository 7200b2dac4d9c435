from servers.hubspot import hubspot_list_objects
result = await hubspot_list_objects(objectType="contacts", limit=1)
