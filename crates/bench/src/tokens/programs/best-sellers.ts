import { list_records } from "./servers/airtable";

const { records } = await list_records({ baseId: "appShopRecords001", tableId: "tblOrderLines0001", fields: ["Product", "Quantity"] });
const units = {};
for (const { fields } of records) units[fields.Product] = (units[fields.Product] ?? 0) + fields.Quantity;
const most = Object.entries(units).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 3);
export default { lines: records.length, most };
