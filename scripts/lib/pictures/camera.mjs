import { join } from 'node:path';
import { chromiumProgram } from '../testing/index.mjs';
import { admin } from './call.mjs';

/** @typedef {import('../stack/stack.mjs').RunFile} RunFile */
/** @typedef {import('./screens.mjs').Screen} Screen */
/** @typedef {import('./screens.mjs').Subject} Subject */
/** @typedef {import('playwright-core').BrowserContextOptions} Look */
/** @typedef {{ origin: string, state: NonNullable<Look['storageState']> }} Visitor where a console is, and a session of it */

const DESK = { viewport: { width: 1280, height: 860 } };
const PHONE = { viewport: { width: 360, height: 740 } };
/** For what is loaded after the first picture of a screen, and for what moves into its place. */
const SETTLE_MS = 700;
/** Of each step: only a page that will never come reaches it. */
const STEP_LIMIT_MS = 120_000;
const REST_LIMIT_MS = 10_000;
const ERROR = JSON.stringify({ error: { code: 'upstream_error', message: 'Part of the service does not answer.' } });

/** Takes pictures of the consoles of a stack. */
export class Camera {
  /**
   * @param {import('playwright-core').Browser} browser
   * @param {RunFile} run
   * @param {string} folder
   */
  constructor(browser, run, folder) {
    this.browser = browser;
    this.run = run;
    this.folder = folder;
    this.taken = 0;
  }

  /**
   * @param {import('../command/scope.mjs').Scope} scope
   * @param {RunFile} run
   * @param {string} folder
   */
  static async open(scope, run, folder) {
    // Loaded here: the packages are installed by then.
    const { chromium } = await import('playwright-core');
    const executablePath = await chromiumProgram(scope);
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    scope.defer(() => browser.close());
    return new Camera(browser, run, folder);
  }

  /**
   * Sign in to an account.
   *
   * @param {string} account
   * @returns {Promise<Visitor>}
   */
  async visit(account) {
    const { url } = await admin(this.run, `accounts/${account}/sign-in-links`, {});
    const origin = `${this.run.publicUrl}/console`;
    return this.#signIn(origin, `${origin}/jobs${new URL(String(url)).hash}`, async (page) => {
      await page.getByRole('button', { name: /^Join / }).click();
      await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    });
  }

  /**
   * Sign in as an operator.
   *
   * @returns {Promise<Visitor>}
   */
  async visitAsOperator() {
    const origin = `${this.run.opsUrl}/console/ops`;
    return this.#signIn(origin, `${origin}/`, async (page) => {
      await page.getByLabel('Admin token').fill(this.run.adminToken);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('link', { name: 'Workers', exact: true }).first().waitFor();
    });
  }

  /**
   * @param {string} origin
   * @param {string} address
   * @param {(page: import('playwright-core').Page) => Promise<void>} steps
   * @returns {Promise<Visitor>}
   */
  async #signIn(origin, address, steps) {
    const context = await this.browser.newContext(DESK);
    context.setDefaultTimeout(STEP_LIMIT_MS);
    const page = await context.newPage();
    await page.goto(address);
    await steps(page);
    const state = await context.storageState();
    await context.close();
    return { origin, state };
  }

  /**
   * Screens as a visitor sees them: light, dark, on a phone, and where the service fails.
   *
   * @param {readonly Screen[]} screens
   * @param {Visitor} visitor
   * @param {Subject} subject
   */
  async takeAll(screens, visitor, subject) {
    for (const screen of screens) {
      await this.take(`${screen.name}-light`, screen, visitor, subject);
      await this.take(`${screen.name}-dark`, screen, visitor, subject, { ...DESK, colorScheme: 'dark' });
      await this.take(`${screen.name}-phone`, screen, visitor, subject, PHONE);
      if (screen.reads) await this.take(`${screen.name}-error`, screen, visitor, subject, DESK, screen.reads);
    }
  }

  /**
   * @param {string} name of the picture
   * @param {Screen} screen
   * @param {Visitor} visitor
   * @param {Subject} subject
   * @param {Look} [look]
   * @param {string} [failing] the requests that fail
   */
  async take(name, { path }, { origin, state }, subject, look = DESK, failing) {
    const context = await this.browser.newContext({ ...look, storageState: state });
    context.setDefaultTimeout(STEP_LIMIT_MS);
    const page = await context.newPage();
    if (failing)
      await page.route(failing, (route) =>
        route.fulfill({ status: 400, contentType: 'application/json', body: ERROR }),
      );
    await page.goto(`${origin}${path(subject)}`);
    await page.locator('h1').first().waitFor();
    // Between two polls nothing is on its way; a screen that never rests is shown as it is.
    await page.waitForLoadState('networkidle', { timeout: REST_LIMIT_MS }).catch(() => undefined);
    await page.waitForTimeout(SETTLE_MS);
    await page.screenshot({ path: join(this.folder, `${name}.png`) });
    this.taken += 1;
    await context.close();
  }
}
