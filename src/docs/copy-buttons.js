// Runs in the browser: gives every sample a button that copies it. Without it the pages are the same, less the buttons.
for (const figure of document.querySelectorAll('figure')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy: ${figure.querySelector('figcaption').textContent}`);
  button.addEventListener('click', () => copy(figure.querySelector('code'), button));
  figure.querySelector('figcaption').append(button);
}

async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    // Over plain HTTP from another machine there is no clipboard: what is selected is one key away from it.
    getSelection().selectAllChildren(code);
    return show(button, 'Selected');
  }
  show(button, 'Copied');
}

function show(button, word) {
  button.textContent = word;
  setTimeout(() => (button.textContent = 'Copy'), 1500);
}
