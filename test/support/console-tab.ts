// An operator who uses the console in a real browser: signs in, finds elements by their text, and can work with the keyboard alone.
import type { Look, Tab } from './tab.ts';
import type { Browser } from './browser.ts';

export class ConsoleTab {
  readonly tab: Tab;
  readonly #base: string;

  private constructor(tab: Tab, base: string) {
    this.tab = tab;
    this.#base = base;
  }

  /** Opens the console, which redirects to the sign-in, and signs in. */
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

  /** The text of the page's main part. */
  text(): Promise<string> {
    return this.tab.read(`document.querySelector('main').innerText`);
  }

  /** Types into the field with this label, replacing its value. */
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

  /** Presses the button with this text, which loads another page. */
  press(words: string): Promise<void> {
    return this.tab.follow(`::-p-xpath(//button[normalize-space() = ${quoted(words)}])`);
  }

  /** Follows the link with this text. */
  follow(words: string): Promise<void> {
    return this.tab.follow(`::-p-xpath(//a[normalize-space() = ${quoted(words)}])`);
  }

  /** Presses Tab until the focused element has this text, or a label or name with it. */
  async tabTo(words: string): Promise<void> {
    for (let keys = 0; keys < 80; keys++) {
      await this.tab.page.keyboard.press('Tab');
      const focused = await this.tab.read<{ words: string; outline: string } | null>(FOCUSED);
      if (focused?.words !== words) continue;
      if (focused.outline === 'none') throw new Error(`${words}: the focus is not visible`);
      return;
    }
    throw new Error(`${words}: not reachable with the Tab key`);
  }

  /** Presses Enter on the focused element, which loads another page. */
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
