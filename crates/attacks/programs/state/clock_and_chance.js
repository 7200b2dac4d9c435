// attack: stop the clock and load the dice for the next program
// expect: ok
// forbid: PWNED
// twice: yes
if (Math.random.planted || Date.now.planted || crypto.randomUUID.planted) console.log("PW" + "NED: clock or chance is the last program's");
Math.random = () => 0.5;
Date.now = () => 0;
crypto.randomUUID = () => "00000000-0000-4000-8000-000000000000";
for (const replaced of [Math.random, Date.now, crypto.randomUUID]) replaced.planted = true;
export default Math.random();
