// Runs in the browser: gives what is to be copied a button that does it. Without it people select and copy.
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
    // Over plain HTTP from another machine there is no clipboard: what is selected is one key away from it.
    getSelection().selectAllChildren(code);
    button.textContent = 'Selected';
  }
}
