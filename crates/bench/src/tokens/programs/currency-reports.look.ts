import { list_issues } from "./servers/github";
export default await list_issues({ owner: "acme", repo: "storefront" });
