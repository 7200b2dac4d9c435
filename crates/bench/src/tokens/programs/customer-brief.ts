import { add_note, list_activities, search_records } from "./servers/crm";
import { query } from "./servers/database";
import { search_documents } from "./servers/documents";

const [account] = (await search_records({ type: "account", query: "Kestrel Foods" })).records;
const [{ activities }, { rows }, { hits }] = await Promise.all([
  list_activities({ record_id: account.id }),
  query({ sql: "SELECT priority, count(*) AS n FROM tickets WHERE account_id = ? AND status = 'open' GROUP BY priority ORDER BY priority", params: [account.id] }),
  search_documents({ query: account.name, limit: 1 }),
]);
const calls = activities.filter((one) => one.kind === "call").map((one) => one.at).sort();
const open = Object.fromEntries(rows.map((row) => [row.priority, row.n]));
const count = rows.reduce((sum, row) => sum + row.n, 0);
const document = hits[0].title;
await add_note({ record_id: account.id, text: `Brief: ${count} open tickets; read ${document}.` });
export default { account, last_call: calls.at(-1) ?? null, open_tickets: open, document };
