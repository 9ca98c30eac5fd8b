"use strict";

// Sets a card's number in groups and the slash of its date while they are typed. The server reads
// them as well without: what is no number or date is left as it is.
(() => {
  const AMEX = /^3[47]/;

  const number = (text) => {
    if (!/^[0-9 -]*$/.test(text)) return text;
    const digits = text.replace(/[^0-9]/g, "");
    const widths = AMEX.test(digits) ? [4, 6, 5] : [4, 4, 4, 4];
    const groups = [];
    let at = 0;
    for (const width of widths) {
      if (at >= digits.length) break;
      groups.push(digits.slice(at, at + width));
      at += width;
    }
    return groups.join(" ") + digits.slice(at);
  };

  const expiry = (text) => {
    const found = /^([0-9]{1,2})([ /]*)([0-9]{0,4})$/.exec(text);
    if (!found) return text;
    const [, month, between, year] = found; // a slash that is typed as well is the same one
    const whole = month.length === 2 || between.includes("/") || month > 1;
    return whole ? `${month.padStart(2, "0")} / ${year}` : text;
  };

  const digitsIn = (text) => text.replace(/[^0-9]/g, "").length;

  // The place behind as many digits as there were before it.
  const behind = (text, count) => {
    let at = 0;
    for (let seen = 0; at < text.length && seen < count; at++) if (/[0-9]/.test(text[at])) seen++;
    return at;
  };

  const typed = (field, written) => (event) => {
    if (event.isComposing) return;
    const deleting = event.inputType?.startsWith("delete");
    if (deleting && written === expiry) return; // or the slash could not be taken away
    const [plain, caret] = [field.value.normalize("NFKC"), field.selectionStart];
    const text = written(plain);
    if (text === field.value) return;
    const atEnd = caret === field.value.length && !deleting;
    const count = digitsIn(plain.slice(0, caret)) + (digitsIn(text) - digitsIn(plain));
    field.value = text;
    const place = atEnd ? text.length : behind(text, count);
    field.setSelectionRange(place, place);
  };

  for (const [name, written] of [["number", number], ["expiry", expiry]]) {
    const field = document.getElementById(name);
    field?.addEventListener("input", typed(field, written));
  }
})();
