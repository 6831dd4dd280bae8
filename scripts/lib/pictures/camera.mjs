import { join } from 'node:path';
import { chromiumProgram } from '../testing/index.mjs';
import { admin } from './plant.mjs';
import { SCREENS } from './screens.mjs';

/** @typedef {import('../stack/stack.mjs').RunFile} RunFile */
/** @typedef {import('./screens.mjs').Screen} Screen */
/** @typedef {{ width: number, height: number }} Size */

const DESK = { width: 1280, height: 860 };
const PHONE = { width: 360, height: 740 };
/** For what is loaded after the first picture of a screen, and for what moves into its place. */
const SETTLE_MS = 700;
/** Of each step: only a page that will never come reaches it. */
const STEP_LIMIT_MS = 120_000;
const REST_LIMIT_MS = 10_000;
const ERROR = JSON.stringify({ error: { code: 'upstream_error', message: 'Part of the service does not answer.' } });

/** Takes pictures of the console of a stack. */
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
   * Every screen as an account sees it: light, dark, on a phone, and where the service fails.
   *
   * @param {string} account
   * @param {string} job
   */
  async takeAll(account, job) {
    for (const screen of SCREENS) {
      await this.take(`${screen.name}-light`, screen, account, job, { viewport: DESK });
      await this.take(`${screen.name}-dark`, screen, account, job, { viewport: DESK, colorScheme: 'dark' });
      await this.take(`${screen.name}-phone`, screen, account, job, { viewport: PHONE });
      if (screen.reads) await this.take(`${screen.name}-error`, screen, account, job, { viewport: DESK }, screen.reads);
    }
  }

  /**
   * @param {string} name
   * @param {Screen} screen
   * @param {string} account
   * @param {string} job
   * @param {import('playwright-core').BrowserContextOptions} look
   * @param {string} [failing] the requests that fail
   */
  async take(name, { path }, account, job, look, failing) {
    const { url } = await admin(this.run, `accounts/${account}/sign-in-links`, {});
    const context = await this.browser.newContext(look);
    context.setDefaultTimeout(STEP_LIMIT_MS);
    const page = await context.newPage();
    if (failing)
      await page.route(failing, (route) =>
        route.fulfill({ status: 400, contentType: 'application/json', body: ERROR }),
      );
    const link = new URL(String(url)).hash;
    await page.goto(`${this.run.publicUrl}/console${path(job)}${link}`);
    await page.locator('h1').first().waitFor();
    // Between two polls nothing is on its way; a screen that never rests is shown as it is.
    await page.waitForLoadState('networkidle', { timeout: REST_LIMIT_MS }).catch(() => undefined);
    await page.waitForTimeout(SETTLE_MS);
    await page.screenshot({ path: join(this.folder, `${name}.png`) });
    this.taken += 1;
    await context.close();
  }
}
