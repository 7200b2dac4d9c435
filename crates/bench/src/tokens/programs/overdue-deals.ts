import { hubspot_batch_update_objects, hubspot_create_engagement, hubspot_search_objects } from "./servers/hubspot";

const deals = [];
let after;
do {
  const page = await hubspot_search_objects({ objectType: "deals", limit: 100, after });
  deals.push(...page.results);
  after = page.paging?.next?.after;
} while (after);
const overdue = deals
  .filter(({ properties }) => !properties.dealstage.startsWith("closed") && properties.closedate < "2026-06-15")
  .sort((a, b) => b.properties.amount - a.properties.amount);
const largest = overdue.slice(0, 3);
const inputs = largest.map(({ id }) => ({ id, properties: { closedate: "2026-06-30" } }));
await hubspot_batch_update_objects({ objectType: "deals", inputs });
await Promise.all(largest.map((deal) => hubspot_create_engagement({
  type: "TASK", ownerId: 7, associations: { dealIds: [Number(deal.id)] },
  metadata: { subject: `Call about ${deal.properties.dealname}` },
})));
export default { overdue: overdue.length, moved: largest.map((deal) => deal.properties.dealname) };
