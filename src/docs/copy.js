// Runs in the browser: adds a copy button to each element with `data-copy`, in the caption if it has one. Without JavaScript there are none.
for (const code of document.querySelectorAll('[data-copy]')) {
  const caption = code.closest('figure')?.querySelector('figcaption');
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = code.dataset.copy;
  if (caption !== undefined) button.setAttribute('aria-label', `Copy: ${caption.textContent}`);
  button.addEventListener('click', () => copy(code, button));
  (caption ?? code.parentElement).append(' ', button);
}

async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
  } catch {
    // Over plain HTTP from another machine, browsers offer no clipboard: the text is selected instead, for Ctrl+C.
    getSelection().selectAllChildren(code);
    button.textContent = 'Selected';
  }
  setTimeout(() => (button.textContent = code.dataset.copy), 1500);
}
