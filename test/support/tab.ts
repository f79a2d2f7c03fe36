// One browser page of puppeteer's, which records its requests and all errors.
import type { Page } from 'puppeteer-core';

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  /** Whether the page's own scripts run, from the next page on. */
  readonly scripts?: boolean;
}

const WAIT_MS_MAX = 30_000;

export class Tab {
  /** For everything that this class lacks: typing, keys, selectors, cookies. */
  readonly page: Page;
  /** URLs of every request since the tab was opened. */
  readonly requests: string[] = [];
  /** Messages in the browser's console (from the page, its scripts and the browser), and uncaught errors. */
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

  /** Resolves with the status when everything has been loaded. */
  async goto(url: string): Promise<number | undefined> {
    return (await this.page.goto(url))?.status();
  }

  /** Clicks what the selector finds, which must lead to another page; resolves when that has been loaded. */
  async follow(selector: string): Promise<void> {
    await Promise.all([this.page.waitForNavigation(), this.page.click(selector)]);
  }

  /** The value of an expression in the page, as JSON; works even if the page's own scripts are disabled. */
  async read<T>(expression: string): Promise<T> {
    return (await this.page.evaluate(expression)) as T;
  }

  /** Requests to other origins; data in the page itself (`data:`) does not count. */
  requestsBeyond(origin: string): string[] {
    return this.requests.filter((url) => !url.startsWith('data:') && new URL(url).origin !== origin);
  }

  async close(): Promise<void> {
    await this.page.browserContext().close();
  }
}
