import { hubspot_list_objects } from "./servers/hubspot";

const contacts = [];
let after;
do {
  const page = await hubspot_list_objects({ objectType: "contacts", limit: 500, after, properties: ["email"] });
  contacts.push(...page.results);
  after = page.paging?.next?.after;
} while (after);
const counts = {};
for (const { properties } of contacts) {
  const email = properties.email.toLowerCase();
  counts[email] = (counts[email] ?? 0) + 1;
}
const double = Object.keys(counts).filter((email) => counts[email] > 1).sort();
export default { contacts: contacts.length, double: double.length, first: double.slice(0, 3) };
