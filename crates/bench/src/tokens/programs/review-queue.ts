import { add_issue_comment, list_pull_requests, pull_request_read } from "./servers/github";

const page = await list_pull_requests({ owner: "acme", repo: "storefront", state: "open", sort: "created", direction: "asc", perPage: 20 });
const rows = Array.isArray(page) ? page : Object.values(page).find(Array.isArray);
const numbers = rows.filter((row) => !row.draft).map((row) => row.number).slice(0, 8);
const reviews = await Promise.all(numbers.map((pullNumber) => pull_request_read({ method: "get_reviews", owner: "acme", repo: "storefront", pullNumber })));
const waiting = numbers.filter((_, index) => !JSON.stringify(reviews[index]).includes("APPROVED"));
const body = "This has waited for an approval the longest; could somebody look at it?";
await Promise.all(waiting.map((issue_number) => add_issue_comment({ owner: "acme", repo: "storefront", issue_number, body })));
export default waiting;
