from servers.airtable import list_records
result = await list_records(baseId="appShopRecords001", tableId="tblOrders00000001", maxRecords=1)
