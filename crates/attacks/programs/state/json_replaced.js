// attack: leave a JSON behind that lies about the next program's data
// expect: ok
// forbid: PWNED
// twice: yes
if (JSON.parse.planted) console.log("PW" + "NED: JSON is the last program's");
const { parse } = JSON;
JSON.parse = (text) => ({ ...parse(text), forged: true });
JSON.parse.planted = true;
JSON.stringify = () => '"forged"';
globalThis.JSON = JSON;
export default { honest: true };
