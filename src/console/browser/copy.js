// Runs in the browser: adds a copy button to each element with `data-copy`.
for (const code of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = code.dataset.copy;
  button.addEventListener('click', () => copy(code, button));
  code.after(' ', button);
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
}
