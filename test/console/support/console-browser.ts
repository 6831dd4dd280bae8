import { source as axeSource, type AxeResults } from 'axe-core';
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { eventually, type TestAccount, type TestStack } from '@millrace/testing';
import { Scope } from '../../../scripts/lib/command/scope.mjs';
import { chromiumProgram } from '../../../scripts/lib/testing/debian-program.mjs';

/** What a browser says of every answer that is an error: pages show those themselves. */
const OF_AN_ANSWER = /^Failed to load resource/;
/** What it says of every page that came over plain HTTP. */
const OF_PLAIN_HTTP = /^The Cross-Origin-Opener-Policy header has been ignored/;
/** Of each step: only a page that will never come reaches it. */
const STEP_LIMIT_MS = 120_000;
/** A name of this machine that browsers take for another one's. */
const OTHER_HOST = 'millrace.test';
const SERIOUS = ['serious', 'critical'];

/** A Chromium that opens the console of a stack. What pages report as errors, violations of their policy among them, is kept. */
export class ConsoleBrowser {
  /** What went wrong in any page so far; a test expects it to be empty. */
  readonly faults: string[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly stack: TestStack,
  ) {}

  /** @throws Failure with a sentence where there is no Chromium. */
  static async launch(stack: TestStack): Promise<ConsoleBrowser> {
    const executablePath = await chromiumProgram(new Scope());
    // Root has no sandbox; what is opened is ours.
    const args = [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      `--host-resolver-rules=MAP ${OTHER_HOST} 127.0.0.1`,
    ];
    return new ConsoleBrowser(await chromium.launch({ executablePath, args }), stack);
  }

  /** The address of a page of the console, e.g. `/jobs`. */
  address(path: string): string {
    return `${this.stack.publicUrl}/console${path}`;
  }

  /** The address of a page of the console for who reaches it from another machine, without HTTPS. */
  plainAddress(path: string): string {
    const address = new URL(this.address(path));
    address.hostname = OTHER_HOST;
    return address.href;
  }

  /** A page of a browser that nobody has signed in. @param path of the console, or a whole address. */
  async open(path = '/', options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    // Nothing moves: a picture of a page that still changes is drawn again and again.
    const context: BrowserContext = await this.browser.newContext({ reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(STEP_LIMIT_MS);
    const page = await context.newPage();
    page.on('pageerror', ({ message }) => this.faults.push(message));
    page.on('console', (message) => {
      const text = message.text();
      const isExpected = OF_AN_ANSWER.test(text) || OF_PLAIN_HTTP.test(text);
      if (message.type() === 'error' && !isExpected) this.faults.push(text);
    });
    await page.goto(path.startsWith('/') ? this.address(path) : path);
    return page;
  }

  /** A page of the operators' console, e.g. `/workers`, of a browser in which no operator is signed in. */
  async openForOperator(path = '/', options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    return this.open(this.operatorsAddress(path), options);
  }

  /** The address of a page of the operators' console. */
  operatorsAddress(path: string): string {
    return `${this.stack.api.opsUrl}/console/ops${path}`;
  }

  /** A page of a browser that a one-time link has signed in. @param path as of `open`. */
  async openSignedIn(
    { id }: Pick<TestAccount, 'id'>,
    path = '/',
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<Page> {
    const page = await this.open(`${path}#link=${await this.linkTo(id)}`, options);
    await join(page);
    return page;
  }

  /** What signs a browser in to an account, once. */
  async linkTo(accountId: string): Promise<string> {
    const { url } = await this.stack.admin<{ url: string }>('POST', `/accounts/${accountId}/sign-in-links`, {});
    return new URL(url).hash.replace('#link=', '');
  }

  /** Close all pages, with their sessions. */
  async closePages(): Promise<void> {
    await Promise.all(this.browser.contexts().map((context) => context.close()));
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}

/** Take what the link of a page's address offers. */
export async function join(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: /^Join / });
  await button.click();
  await button.waitFor({ state: 'detached' });
}

/** The dialog that is open over a page. Notices in passing have the role of a dialog, too. */
export function modal(page: Page): Locator {
  return page.locator('.modal');
}

/** What axe finds on a page that keeps people out: the rule, and where it is broken. */
export async function seriousFaults(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");
  return violations
    .filter(({ impact }) => SERIOUS.includes(impact ?? ''))
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** The texts that are cut off at the right edge of a page's window, also inside of what scrolls. */
export async function beyondEdge(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`
    [...document.querySelectorAll('#main *')]
      .filter((element) => element.childElementCount === 0 && element.textContent.trim() !== '')
      .filter((element) => element.getBoundingClientRect().right > window.innerWidth)
      .map((element) => element.textContent)
  `);
}

/**
 * Wait until an expression is true in a page. The page's policy forbids scripts to evaluate text, so each look is one of ours.
 *
 * @param expression JavaScript
 */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  await eventually(expression, async () => page.evaluate<boolean>(expression), STEP_LIMIT_MS);
}

/** Hide the tab of a page from its scripts, or show it: a browser without a window has every tab in view. */
export async function showTab(page: Page, state: 'visible' | 'hidden'): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  `);
}

/** The service does what the next act there asks for, and its answer is lost on the way. */
export async function loseAnswer(page: Page, path: RegExp, method = 'POST'): Promise<void> {
  let lost = false;
  await page.route(path, async (route) => {
    if (lost || route.request().method() !== method) return route.fallback();
    lost = true;
    await route.fetch();
    return route.fulfill({ status: 504, contentType: 'text/html', body: '<h1>504 Gateway Time-out</h1>' });
  });
}

/** Hold the next request there on its way. @returns a function that lets it go on. */
export async function holdRequest(page: Page, path: RegExp): Promise<() => void> {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  await page.route(
    path,
    async (route) => {
      await held;
      return route.fallback();
    },
    { times: 1 },
  );
  return letGo;
}
