from servers.crm import get_record
result = await get_record(type="contact", id="CON-0017")
