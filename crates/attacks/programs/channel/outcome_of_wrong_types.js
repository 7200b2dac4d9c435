// attack: let the report about the program have members of other kinds
// expect: ok | error | crash
// forbid: PWNED
String.prototype.replace = function () {
  return '{"ok":"yes","result":{"$file":{"base64":5}},"has_result":1,"notes":{"a":[]},"error":{"kind":7,"limit":{"name":[]}},"stored_result":"x","damaged":null,"limits":{"memory":1e400}}';
};
export default { a: 1 };
