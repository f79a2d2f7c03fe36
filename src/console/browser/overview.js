// Runs in the browser: keeps the overview up to date, and says when it cannot. Without JavaScript the page shows the figures of its request.
const live = document.querySelector('#live');
const trouble = document.querySelector('#trouble');

/** How long after the end of a step to poll, so that the answer has the step. */
const LATER_MS = 300;
const ANSWER_MS_MAX = 8000;
const AGAIN_MS = 5000;
/** The longest pause between failed attempts, each of which the browser logs. */
const AGAIN_MS_MAX = 60_000;

let timer;
let failures = 0;
/** When to poll next, by the browser's clock; `Infinity` after the session has ended. */
let dueMs = 0;

document.addEventListener('visibilitychange', plan);
void refresh();

async function refresh() {
  const news = await ask();
  if (news === 'signed out') {
    dueMs = Infinity;
    say('Your session has ended: the figures are old. ', live.dataset.signIn, 'Sign in again');
  } else if (news === undefined) {
    const againMs = Math.min(AGAIN_MS * 2 ** failures++, AGAIN_MS_MAX);
    dueMs = Date.now() + againMs;
    say(`The gateway does not answer: the figures are old. Next attempt in ${againMs / 1000} seconds.`);
  } else {
    failures = 0;
    dueMs = Date.now() + news.next_ms + LATER_MS;
    say('');
    show(news);
  }
  plan();
}

/** The new figures, `signed out`, or `undefined` if there is no usable answer. */
async function ask() {
  try {
    // Without a session the answer is a redirect to the sign-in page. It is not followed; the browser logs no error, as for a 401.
    const response = await fetch(live.dataset.news, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    if (response.type === 'opaqueredirect') return 'signed out';
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/** A hidden page does not poll. */
function plan() {
  clearTimeout(timer);
  if (document.visibilityState === 'hidden' || dueMs === Infinity) return;
  timer = setTimeout(refresh, Math.max(0, dueMs - Date.now()));
}

function show({ parts }) {
  for (const [name, text] of Object.entries(parts)) {
    const place = document.querySelector(`[data-part="${name}"]`);
    const part = new DOMParser().parseFromString(text, 'text/html').body;
    // Unchanged parts are not replaced: someone may be reading or selecting them.
    if (place.innerHTML !== part.innerHTML) place.replaceChildren(...part.childNodes);
  }
}

/** Says what is wrong, with a link that helps; nothing if all is well. */
function say(words, href = '', label = '') {
  live.classList.toggle('stale', words !== '');
  if (trouble.dataset.words === words) return;
  trouble.dataset.words = words;
  trouble.hidden = words === '';
  const link = document.createElement('a');
  link.href = href;
  link.textContent = label;
  trouble.replaceChildren(words, ...(href === '' ? [] : [link]));
}
