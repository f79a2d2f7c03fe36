// Runs in the browser: adds a copy button to every sample. Without JavaScript there are no buttons.
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
    // Over plain HTTP from another machine, browsers offer no clipboard: the text is selected instead, for Ctrl+C.
    getSelection().selectAllChildren(code);
    return show(button, 'Selected');
  }
  show(button, 'Copied');
}

function show(button, word) {
  button.textContent = word;
  setTimeout(() => (button.textContent = 'Copy'), 1500);
}
