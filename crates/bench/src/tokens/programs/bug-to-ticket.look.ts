import { issue_read, list_issues } from "./servers/github";
export default await Promise.all([
  list_issues({ owner: "acme", repo: "storefront" }),
  ...[1, 2, 3, 4, 5].map((issue_number) => issue_read({ issue_number, method: "get_comments", owner: "acme", repo: "storefront" })),
]);
