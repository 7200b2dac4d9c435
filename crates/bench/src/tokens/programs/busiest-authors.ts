import { get_metadata, list_documents } from "./servers/documents";

const { documents } = await list_documents();
const answers = await Promise.all(documents.map((one) => get_metadata({ document_id: one.document_id })));
const words = {};
for (const answer of answers) words[answer.author] = (words[answer.author] ?? 0) + answer.words;
const most = Object.entries(words).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 3);
export default { documents: answers.length, most };
