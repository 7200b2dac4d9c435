from servers.crm import list_leads
leads = await list_leads(status="won", owner="Petra Novak", page_size=5)
result = [f"{lead['name']} ({lead['company']})" for lead in leads["records"]]
