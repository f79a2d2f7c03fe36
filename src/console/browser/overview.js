// Runs in the browser: keeps the overview up to date, and says so when it cannot. Without it the page is as it was when it was asked for.
import { Charts } from './charts.js';

const live = document.querySelector('#live');
const trouble = document.querySelector('#trouble');
const charts = new Charts(document.querySelector('#charts'));

/** After the gateway's step is over, so that what it sends has the step in it. */
const LATER_MS = 300;
const ANSWER_MS_MAX = 8000;
const AGAIN_MS = 5000;
/** Each failure is a line in the browser's own console: they become rarer. */
const AGAIN_MS_MAX = 60_000;

let timer;
let failures = 0;
/** When there is to be news, by the browser's clock; never after the session has ended. */
let dueMs = 0;

// The charts say it now; the table remains one key away.
document.querySelector('#minutes').open = false;
document.addEventListener('visibilitychange', plan);
void refresh();

async function refresh() {
  const news = await ask();
  if (news === 'signed out') {
    dueMs = Infinity;
    say('Your session has ended: the figures are those of then. ', live.dataset.signIn, 'Sign in again');
  } else if (news === undefined) {
    const againMs = Math.min(AGAIN_MS * 2 ** failures++, AGAIN_MS_MAX);
    dueMs = Date.now() + againMs;
    say(`The gateway does not answer: the figures are old. It is asked again in ${againMs / 1000} seconds.`);
  } else {
    failures = 0;
    dueMs = Date.now() + news.next_ms + LATER_MS;
    say('');
    show(news);
  }
  plan();
}

/** News, `signed out`, or nothing when there was no answer to be had. */
async function ask() {
  try {
    // Whoever is not signed in is led to the sign-in page; that we do not follow is no error to the browser.
    const response = await fetch(live.dataset.news, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    if (response.type === 'opaqueredirect') return 'signed out';
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

/** A page that nobody sees asks nothing. */
function plan() {
  clearTimeout(timer);
  if (document.visibilityState === 'hidden' || dueMs === Infinity) return;
  timer = setTimeout(refresh, Math.max(0, dueMs - Date.now()));
}

function show({ parts, columns }) {
  for (const [name, text] of Object.entries(parts)) {
    const place = document.querySelector(`[data-part="${name}"]`);
    const part = new DOMParser().parseFromString(text, 'text/html').body;
    // What has not changed stays: somebody may be reading or marking it.
    if (place.textContent !== part.textContent) place.replaceChildren(...part.childNodes);
  }
  charts.show(columns);
}

/** Says what is wrong, with a way out of it; nothing when all is well. */
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
