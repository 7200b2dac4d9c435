import { search_issues } from "./servers/sentry";
export default await search_issues({ organizationSlug: "acme", query: "is:unresolved", sort: "user", limit: 5 });
