import { list_activities } from "./servers/crm";

const ids = Array.from({ length: 100 }, (_, index) => `ACC-${String(index + 1).padStart(4, "0")}`);
const answers = await Promise.all(ids.map((record_id) => list_activities({ record_id })));
const quiet = answers.filter(({ activities }) => activities.every((one) => one.kind !== "call" || one.at < "2025-12-17"));
export default { accounts: answers.length, quiet: quiet.map((answer) => answer.record_id) };
