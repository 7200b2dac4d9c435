from servers.crm import list_leads
result = await list_leads(status="won", owner="Petra Novak", page_size=5)
