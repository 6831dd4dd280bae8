import type { Page } from 'playwright-core';
import { newId } from '@millrace/contracts';
import { ApiClient, type TestAccount, type TestStack } from '@millrace/testing';
import { loseAnswer, modal, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

async function signIn(page: Page, token = stack.env['MILLRACE_ADMIN_TOKEN'] ?? ''): Promise<void> {
  await page.getByLabel('Admin token').fill(token);
  await press(page, 'Sign in');
}

/** Acts of operators: those whose answer is lost, and what each role is offered. */
export function operatorActs(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
  });

  describe("an operator's act", () => {
    it('of which a proxy says 504 grants credits once, also after the dialog was opened again', async () => {
      const where = { accountId: account.id, reason: 'a lost answer' };
      const page = await browser.openForOperator(`/accounts/${account.id}`);
      await signIn(page);
      const grant = async (): Promise<void> => {
        await press(page, 'Grant or take back');
        await page.getByRole('textbox', { name: 'Credits' }).fill('1000');
        await page.getByLabel('Reason').fill(where.reason);
        await press(page, 'Grant the credits');
      };
      await page.getByRole('button', { name: 'Grant or take back' }).waitFor();
      await loseAnswer(page, new RegExp(`/accounts/${account.id}/credits$`));
      await grant();
      await page.getByText('No answer arrived', { exact: true }).waitFor();
      await page.getByText('The last adjustment of this account has no answer yet').waitFor();
      await press(page, 'Do nothing');
      await grant();
      await page.getByText(/credits available$/).waitFor();
      expect(await stack.test.database.models.ledgerTransaction.count({ where })).toBe(1);
    });

    it('of which a proxy says 504 redrives a job once, also after the dialog was opened again', async () => {
      const client = new ApiClient(stack.publicUrl, account.apiKey);
      const { id } = await client.run({
        '1': { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: 1 } },
        '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'again' } },
      });
      const page = await browser.openForOperator(`/jobs/${id}`);
      await signIn(page);
      await loseAnswer(page, /\/redrive$/);
      await press(page, 'Redrive');
      await press(page, 'Redrive the job');
      await page.getByText('No answer arrived', { exact: true }).waitFor();
      await press(page, 'Do nothing');
      await press(page, 'Redrive');
      await page.getByText('it makes no second job').waitFor();
      await press(page, 'Redrive the job');
      await page.waitForURL((url) => /\/jobs\/[0-9a-f-]{36}$/.test(url.pathname) && !url.pathname.endsWith(id));
      expect(await stack.test.database.models.job.count({ where: { accountId: account.id } })).toBe(2);
    });

    it('of which a proxy says 504 asks for the same when it is pressed again, of an account, a deployment and a worker', async () => {
      const { id: workerId } = await stack.test.database.models.worker.findFirstOrThrow({ where: { state: 'ready' } });
      const wish = { account_id: account.id, name: 'turned', engine: 'cpu' };
      const { id: deploymentId } = await stack.admin<{ id: string }>('POST', '/deployments', wish);
      const page = await browser.openForOperator(`/accounts/${account.id}`);
      await signIn(page);
      await page.getByText('Held for jobs').waitFor();
      for (const [screen, path, method, opens, act, after] of [
        [
          `/accounts/${account.id}`,
          `/accounts/${account.id}$`,
          'PATCH',
          'Suspend',
          'Suspend the account',
          'Reactivate',
        ],
        ['/deployments', `/deployments/${deploymentId}/stop$`, 'POST', 'Stop', 'Stop the deployment', 'Start'],
        ['/workers', `/workers/${workerId}/drain$`, 'POST', 'Drain', 'Drain the worker', 'Undo drain'],
      ] as const) {
        await page.goto(browser.operatorsAddress(screen));
        await page.getByRole('button', { name: opens, exact: true }).first().waitFor();
        await loseAnswer(page, new RegExp(path), method);
        await press(page, opens);
        await press(page, act);
        await page.getByText('No answer arrived', { exact: true }).waitFor();
        // Behind the dialog the page has read what was done.
        await page.locator('#main button', { hasText: new RegExp(`^${opens}$`) }).waitFor({ state: 'detached' });
        await press(page, act);
        await modal(page).waitFor({ state: 'detached' });
        await page.locator('#main').getByRole('button', { name: after, exact: true }).first().waitFor();
      }
      expect(await stack.admin('GET', `/accounts/${account.id}`)).toMatchObject({ status: 'suspended' });
      await stack.admin('PATCH', `/accounts/${account.id}`, { status: 'active' });
      await stack.admin('POST', `/workers/${workerId}/undrain`);
    });

    it('is offered to who may do it', async () => {
      const { token } = await stack.admin<{ token: string }>('POST', '/operator-tokens', {
        name: 'looks-on',
        role: 'viewer',
      });
      const page = await browser.openForOperator(`/accounts/${account.id}`);
      await signIn(page, token);
      const offered = async (): Promise<string[]> => {
        await page.locator('#main h1').waitFor();
        return page.locator('#main').getByRole('button').allTextContents();
      };
      await page.getByText('Held for jobs').waitFor();
      expect((await offered()).join()).not.toMatch(/Suspend|Grant|Change/);
      await page.goto(browser.operatorsAddress('/operators'));
      await page.getByRole('cell', { name: /looks-on/ }).waitFor();
      expect((await offered()).join()).not.toMatch(/New token|Revoke/);
      await page.goto(browser.operatorsAddress('/workers'));
      await page.getByRole('table', { name: 'Workers' }).waitFor();
      expect((await offered()).join()).not.toMatch(/rain/);
    });
  });

  describe('the audit panel', () => {
    it('shows what the newest run found, also of another operator', async () => {
      const page = await browser.openForOperator();
      await signIn(page);
      // It shows the last run already, of another test.
      const ran = page.waitForResponse((response) => response.url().endsWith('/audit'));
      await press(page, 'Run an audit');
      await ran;
      await page.getByText('All hold', { exact: true }).waitFor();
      const found = { audit: 'credits', check: 'made-up', subject: 'nothing', detail: 'of a test' };
      const details = { ok: false, audits: ['credits'], findings: 1, truncated: false, first: [found] };
      const run = { actor: 'token:another', action: 'audit.run', subjectType: 'audit', subjectId: 'invariants' };
      await stack.test.database.models.auditEntry.create({ data: { ...run, id: newId(), details } });
      await page.getByText('credits: made-up').waitFor();
    });
  });
}
