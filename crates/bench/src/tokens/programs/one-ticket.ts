import { jira_get_issue } from "./servers/atlassian";
export default await jira_get_issue({ issue_key: "SHOP-4321", fields: "summary,status,assignee", comment_limit: 0 });
