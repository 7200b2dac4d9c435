import { list_records } from "./servers/airtable";

const { records } = await list_records({ baseId: "appShopRecords001", tableId: "tblOrders00000001", fields: ["Currency", "Cents"] });
const totals = {};
for (const { fields } of records) {
  const total = (totals[fields.Currency] ??= [0, 0]);
  total[0] += 1;
  total[1] += fields.Cents;
}
export default totals;
