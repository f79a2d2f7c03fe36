// One page in the browser: goes somewhere, looks around in it, and remembers what was requested and what was complained about.
import type { DevTools, Params } from './dev-tools.ts';

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly scheme: 'light' | 'dark';
}

export class Page {
  /** URLs of every request since the page was opened. */
  readonly requests: string[] = [];
  /** Errors and warnings of the console, of scripts, and of the browser about the page. */
  readonly complaints: string[] = [];
  readonly #devTools: DevTools;
  readonly #sessionId: string;
  #onLoad: (() => void) | undefined;

  private constructor(devTools: DevTools, sessionId: string) {
    this.#devTools = devTools;
    this.#sessionId = sessionId;
  }

  static async open(devTools: DevTools, sessionId: string): Promise<Page> {
    const page = new Page(devTools, sessionId);
    devTools.onEvent(sessionId, (method, params) => page.#event(method, params));
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await page.send(`${domain}.enable`);
    return page;
  }

  send<T>(method: string, params: Params = {}): Promise<T> {
    return this.#devTools.send<T>(method, params, this.#sessionId);
  }

  /** Resolves when everything has been loaded. */
  async goto(url: string): Promise<void> {
    const loaded = this.#loaded();
    const { errorText } = await this.send<{ errorText?: string }>('Page.navigate', { url });
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  /** Clicks what `expression` finds, which is to lead to another page. */
  async follow(expression: string): Promise<void> {
    const loaded = this.#loaded();
    await this.evaluate(`${expression}.click()`);
    await loaded;
  }

  /** A value that can be written as JSON. Works where the page's own scripts are switched off, too. */
  async evaluate<T>(expression: string): Promise<T> {
    const answer = await this.send<{ result: { value: T }; exceptionDetails?: { exception?: { description?: string } } }>(
      'Runtime.evaluate',
      {
        expression,
        returnByValue: true,
        awaitPromise: true,
      },
    );
    if (answer.exceptionDetails !== undefined) throw new Error(answer.exceptionDetails.exception?.description ?? 'the expression threw');
    return answer.result.value;
  }

  async look({ width, height, scheme }: Look): Promise<void> {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
  }

  /** Whether the page's own scripts run, from the next page on. */
  scripts(run: boolean): Promise<unknown> {
    return this.send('Emulation.setScriptExecutionDisabled', { value: !run });
  }

  #loaded(): Promise<void> {
    return new Promise((resolve) => {
      this.#onLoad = resolve;
    });
  }

  #event(method: string, params: Params): void {
    if (method === 'Page.loadEventFired') this.#onLoad?.();
    if (method === 'Network.requestWillBeSent') this.requests.push((params['request'] as { url: string }).url);
    if (method === 'Runtime.exceptionThrown') this.complaints.push(JSON.stringify(params['exceptionDetails']));
    if (method === 'Runtime.consoleAPICalled') this.complaints.push(`console.${String(params['type'])}: ${JSON.stringify(params['args'])}`);
    if (method === 'Log.entryAdded') this.complaints.push((params['entry'] as { text: string }).text);
  }
}
