// Shades that are readable on light and on dark: the style mixes them from the page's own colours.

// 0 to 1: from the background to the strong colour.
function shade(element, share) {
  element.classList.add("shade");
  element.style.setProperty("--t", Math.max(0, Math.min(1, share || 0)));
  return element;
}

// -1 to 1: from one colour over the background to another.
function signedShade(element, share) {
  const t = Math.max(-1, Math.min(1, share || 0));
  element.classList.add(t < 0 ? "negative" : "positive");
  element.style.setProperty("--t", Math.abs(t));
  return element;
}

// A share whose small values can be told apart: 1e-4 is at 0, 1 at 1.
function logShare(share) {
  return share <= 0 ? 0 : Math.max(0, 1 + Math.log10(share) / 4);
}
