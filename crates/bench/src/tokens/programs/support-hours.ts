import { list_records } from "./servers/airtable";

const { records } = await list_records({ baseId: "appShopRecords001", tableId: "tblTickets0000001", fields: ["Account", "Priority", "Hours"] });
const priorities = {}, accounts = {};
for (const { fields } of records) {
  const one = (priorities[fields.Priority] ??= [0, 0]);
  one[0] += 1;
  one[1] += fields.Hours;
  accounts[fields.Account] = (accounts[fields.Account] ?? 0) + 1;
}
const most = Object.entries(accounts).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 3);
export default { tickets: records.length, priorities, most };
