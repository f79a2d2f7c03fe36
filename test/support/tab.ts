// One page in the browser, of puppeteer's, and what it did and said: its requests, and everything that was complained about.
import type { Page } from 'puppeteer-core';

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  /** Whether the page's own scripts run, from the next page on. */
  readonly scripts?: boolean;
}

const WAIT_MS_MAX = 15_000;

export class Tab {
  /** For all that is not here: typing, keys, selectors, cookies. */
  readonly page: Page;
  /** URLs of every request since the tab was opened. */
  readonly requests: string[] = [];
  /** What the console shows (of the page, its scripts and the browser), and errors that nobody caught. */
  readonly complaints: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.setDefaultTimeout(WAIT_MS_MAX);
    page.on('request', (request) => this.requests.push(request.url()));
    page.on('console', (message) => this.complaints.push(`console.${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => this.complaints.push(String(error)));
  }

  static async open(page: Page, look: Look): Promise<Tab> {
    const tab = new Tab(page);
    await tab.look(look);
    return tab;
  }

  async look({ width = 1280, height = 900, scheme = 'light', scripts = true }: Look): Promise<void> {
    await this.page.setViewport({ width, height });
    await this.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await this.page.setJavaScriptEnabled(scripts);
  }

  /** Resolves when everything has been loaded, with the status. */
  async goto(url: string): Promise<number | undefined> {
    return (await this.page.goto(url))?.status();
  }

  /** Clicks what the selector finds, which is to lead to another page; resolves when that has been loaded. */
  async follow(selector: string): Promise<void> {
    await Promise.all([this.page.waitForNavigation(), this.page.click(selector)]);
  }

  /** What an expression comes to in the page, as JSON has it; also where the page's own scripts are switched off. */
  async read<T>(expression: string): Promise<T> {
    return (await this.page.evaluate(expression)) as T;
  }

  /** Requests to anywhere but this origin; what lies in the page itself (`data:`) is none. */
  requestsBeyond(origin: string): string[] {
    return this.requests.filter((url) => !url.startsWith('data:') && new URL(url).origin !== origin);
  }

  async close(): Promise<void> {
    await this.page.browserContext().close();
  }
}
