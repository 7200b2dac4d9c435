import { read_file, search_files } from "./servers/filesystem";
const texts = [];
for (const name of ["plan.md", "ideas.md"]) {
  const { matches } = await search_files({ pattern: name });
  texts.push((await read_file({ path: matches[0].path, limit: 5 })).text);
}
export default texts;
