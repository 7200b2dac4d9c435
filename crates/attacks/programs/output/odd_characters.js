// attack: halves of characters, control sequences and bytes that are no text
// expect: ok
// forbid: PWNED
console.log("\ud800 \udfff \udcff", "\x1b]0;title\x07\x1b[2J\x1b[8mhidden\x1b[0m\x1b]52;c;cm0gLXJmIC8=\x07\x9b31m");
console.log("\u202egnp.exe\u202c \u2066\u2069 \u200b\ufeff \x00 \x08\x08 \r overwritten");
process.stdout.write(new Uint8Array(Array.from({ length: 4096 }, (_, n) => n % 256)));
console.error(Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]).toString());
export default "\x1b[31mred\x1b[0m\ud800";
