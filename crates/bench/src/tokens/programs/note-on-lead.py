from servers.crm import add_note, search_records
lead = (await search_records(type="lead", query="Amara Castellan"))["records"][0]
note = await add_note(record_id=lead["id"], text="Called back; wants an offer by Friday.")
result = note["record_id"]
