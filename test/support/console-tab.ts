// An operator at the console in a real browser: signs in, finds what is on the page by its words, and works with the keyboard alone.
import type { Look, Tab } from './tab.ts';
import type { Browser } from './browser.ts';

export class ConsoleTab {
  readonly tab: Tab;
  readonly #base: string;

  private constructor(tab: Tab, base: string) {
    this.tab = tab;
    this.#base = base;
  }

  /** Opens the console, which leads to the sign-in, and signs in. */
  static async signedIn(browser: Browser, opsPort: number, token: string, look: Look = {}): Promise<ConsoleTab> {
    const operator = new ConsoleTab(await browser.newTab(look), `http://127.0.0.1:${opsPort}`);
    await operator.open('/console');
    await operator.fill('Token', token);
    await operator.press('Sign in');
    return operator;
  }

  get origin(): string {
    return this.#base;
  }

  open(path: string): Promise<number | undefined> {
    return this.tab.goto(this.#base + path);
  }

  path(): Promise<string> {
    return this.tab.read('location.pathname');
  }

  /** All that is to be read in the page's main part. */
  text(): Promise<string> {
    return this.tab.read(`document.querySelector('main').innerText`);
  }

  /** Types into the field of this label, in place of what is there. */
  async fill(label: string, text: string): Promise<void> {
    const field = `::-p-xpath(//main//input[@id = //label[normalize-space() = ${quoted(label)}]/@for])`;
    await this.tab.page.click(field, { count: 3 });
    await this.tab.page.type(field, text);
  }

  async choose(label: string, value: string): Promise<void> {
    const id = await this.tab.read<string>(
      `[...document.querySelectorAll('label')].find((one) => one.textContent.trim() === ${JSON.stringify(label)}).htmlFor`,
    );
    await this.tab.page.select(`#${id}`, value);
  }

  /** Presses the button of these words, which leads on. */
  press(words: string): Promise<void> {
    return this.tab.follow(`::-p-xpath(//button[normalize-space() = ${quoted(words)}])`);
  }

  /** Follows the link of these words. */
  follow(words: string): Promise<void> {
    return this.tab.follow(`::-p-xpath(//a[normalize-space() = ${quoted(words)}])`);
  }

  /** Goes on with the Tab key until what has the focus has these words, or a label or name of them. */
  async tabTo(words: string): Promise<void> {
    for (let keys = 0; keys < 80; keys++) {
      await this.tab.page.keyboard.press('Tab');
      const focused = await this.tab.read<{ words: string; outline: string } | null>(FOCUSED);
      if (focused?.words !== words) continue;
      if (focused.outline === 'none') throw new Error(`${words}: the focus is not to be seen`);
      return;
    }
    throw new Error(`${words}: not reached by the Tab key`);
  }

  /** Presses Enter on what has the focus, which leads on. */
  async enter(): Promise<void> {
    await Promise.all([this.tab.page.waitForNavigation(), this.tab.page.keyboard.press('Enter')]);
  }

  type(text: string): Promise<void> {
    return this.tab.page.keyboard.type(text);
  }

  /** The key that a notice shows. */
  newKey(): Promise<string> {
    return this.tab.read(`document.querySelector('.notice code').textContent`);
  }
}

const FOCUSED = `(() => {
  const at = document.activeElement;
  if (at === null || at === document.body) return null;
  const label = document.querySelector('label[for="' + at.id + '"]');
  return { words: at.getAttribute('aria-label') ?? (label ?? at).textContent.trim(), outline: getComputedStyle(at).outlineStyle };
})()`;

function quoted(text: string): string {
  return `"${text}"`;
}
