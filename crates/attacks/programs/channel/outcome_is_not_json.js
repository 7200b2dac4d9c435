// attack: let the report about the program be no JSON at all
// expect: ok | error | crash
// forbid: PWNED
String.prototype.replace = () => '{"ok":true,"result":"\\u0050WNED","has_result":tru';
String.prototype.replaceAll = String.prototype.replace;
JSON.stringify = () => "]";
export default "honest";
