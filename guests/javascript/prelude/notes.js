// Short remarks that travel with an outcome. Bounded in number and length.

const NOTES_MAX = 20;
const NOTE_CHARS_MAX = 300;

class Notes {
  #texts = [];
  #dropped = 0;

  /** Keeps the note unless it is already there or there are too many. */
  add(text) {
    const told = cut(String(text).split(/\s+/).join(" "), NOTE_CHARS_MAX - 1);
    if (this.#texts.includes(told)) return;
    if (this.#texts.length >= NOTES_MAX - 1) this.#dropped += 1;
    else this.#texts.push(told);
  }

  texts() {
    if (this.#dropped === 0) return this.#texts;
    return [...this.#texts, `${this.#dropped} more notes were left out`];
  }
}
