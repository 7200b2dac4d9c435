// attack: recursion without end, uncaught
// expect: error
// forbid: PWNED
const again = (n) => again(n + 1) + 1;
again(0);
console.log("PW" + "NED: it came back");
