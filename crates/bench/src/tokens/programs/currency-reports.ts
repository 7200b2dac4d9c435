import { list_issues } from "./servers/github";

const labels = {};
let read = 0, after, more = true;
while (more) {
  const page = await list_issues({ owner: "acme", repo: "storefront", after });
  read += page.issues.length;
  for (const issue of page.issues.filter((one) => one.body.includes("currency"))) {
    for (const label of issue.labels) labels[label] = (labels[label] ?? 0) + 1;
  }
  ({ endCursor: after, hasNextPage: more } = page.pageInfo);
}
export default { read, labels };
