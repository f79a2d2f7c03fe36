// Evaluated in a page: every visible text whose colour is too close to what lies behind it (WCAG 2.2, 1.4.3), with the ratio.
(() => {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const [r, g, b, alpha = 1] = channels(getComputedStyle(at).backgroundColor);
      if (alpha === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faults = new Set();
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (texts.currentNode.textContent.trim() === '' || !element.checkVisibility() || ['SCRIPT', 'STYLE'].includes(element.tagName))
      continue;
    const found = ratio(channels(getComputedStyle(element).color), behind(element));
    if (found < 4.5) faults.add(`${element.tagName} ${element.className} ${found.toFixed(2)}`);
  }
  return [...faults];
})();
