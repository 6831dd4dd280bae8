import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { ApiClient, type TestAccount, type TestStack } from '@millrace/testing';
import { beyondEdge, seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const;

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
let browser: ConsoleBrowser;

/** A job whose one node takes so many steps. */
async function submit(steps: number): Promise<string> {
  const inputs = { width: 512, height: 512, steps, seed: 1, feed: 0.0545, kill: 0.062, palette: 'lagoon' };
  const { id } = await client.run({
    '1': { class_type: 'MillraceReactionDiffusion', inputs },
    '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'coral' } },
  });
  return id;
}

/** Steps of a picture that is still being made when the test is over. */
const ENDLESS = 100_000;
const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const title = (page: Page, name: string): Promise<void> => page.getByRole('heading', { name, exact: true }).waitFor();
const goTo = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click();

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Admin token').fill(stack.env['MILLRACE_ADMIN_TOKEN'] ?? '');
  await press(page, 'Sign in');
  await title(page, 'Overview');
}

/** The operators' console. Needs one worker of its own. */
export function operators(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
    client = new ApiClient(stack.publicUrl, account.apiKey);
  });

  describe("the operators' console", () => {
    it('shows queues and workers, drains one with a job, cancels and redrives jobs, and runs an audit', async () => {
      const jobId = await submit(ENDLESS);
      const waiting = await submit(ENDLESS);
      const page = await browser.openForOperator();
      await title(page, 'Operators');
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByLabel('Admin token').fill('wrong');
      await press(page, 'Sign in');
      await page.getByText('The bearer token is neither the admin token nor an operator token').waitFor();
      await signIn(page);
      expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })')).toBe(
        '{}',
      );

      await page.getByRole('row', { name: new RegExp(stack.env['MILLRACE_POOL'] ?? '') }).waitFor();
      await page.getByText(/Updated \d+ s ago/).waitFor();
      await press(page, 'Run an audit');
      await page.getByText('All hold', { exact: true }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);

      await goTo(page, 'Workers');
      await page.getByText('Busy', { exact: true }).waitFor();
      await page.locator(`a[href$="/jobs/${jobId}"]`).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Drain');
      await page.getByText('finishes the job that it has').waitFor();
      await press(page, 'Drain the worker');
      await page.getByText('Draining', { exact: true }).waitFor();

      await page.locator(`a[href$="/jobs/${jobId}"]`).click();
      await page.getByText('runs now', { exact: true }).waitFor();
      await page.getByText('queued → running').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Cancel');
      await press(page, 'Cancel the job');
      await page.getByText('Canceled', { exact: true }).first().waitFor();

      await press(page, 'Redrive');
      const before = page.url();
      await press(page, 'Redrive the job');
      await page.waitForURL((url) => /\/jobs\/[0-9a-f-]{36}$/.test(url.pathname) && url.href !== before);
      await page.getByText('Queued', { exact: true }).first().waitFor();
      const redriven = page.url().split('/').at(-1) ?? '';

      await goTo(page, 'Workers');
      await press(page, 'Undo drain');
      await press(page, 'Undo the drain');
      await page.getByText('Busy', { exact: true }).waitFor();

      for (const id of [waiting, redriven]) await client.call('POST', `/api/v2/jobs/${id}/cancel`);

      await press(page, 'Sign out');
      await title(page, 'Operators');
      await page.reload();
      await title(page, 'Operators');
    });

    it('finds accounts, grants credits, suspends and reactivates, and lists pools and deployments', async () => {
      await stack.admin('POST', '/deployments', { account_id: account.id, name: 'portraits', engine: 'cpu' });
      const page = await browser.openForOperator('/accounts');
      await page.getByLabel('Admin token').fill(stack.env['MILLRACE_ADMIN_TOKEN'] ?? '');
      await press(page, 'Sign in');
      await page.getByLabel('Name or id of an account').fill(account.id);
      await title(page, 'a test');
      await press(page, 'Grant or take back');
      await page.getByRole('textbox', { name: 'Credits' }).fill('1.5');
      await page.getByLabel('Reason').fill('a test');
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Grant the credits');
      await page.getByText(/credits available$/).waitFor();
      await press(page, 'Suspend');
      await press(page, 'Suspend the account');
      await page.getByText('Suspended', { exact: true }).waitFor();
      await press(page, 'Reactivate');
      await press(page, 'Reactivate the account');
      await page.getByText('Active', { exact: true }).waitFor();
      await press(page, 'Change');
      await page.getByLabel('Running limit').fill('3');
      await press(page, 'Change the limits');
      await page.getByText('The limits are changed').waitFor();
      expect(await seriousFaults(page)).toEqual([]);

      await goTo(page, 'Pools');
      const holder = page.getByRole('link', { name: 'portraits · a test', exact: true });
      await holder.waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await goTo(page, 'Overview');
      await page.getByRole('table', { name: 'Queues' }).waitFor();
      await holder.waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await goTo(page, 'Workers');
      await page.getByRole('option', { name: /^portraits · a test \(/ }).waitFor({ state: 'attached' });
      await goTo(page, 'Deployments');
      await page.getByText('portraits', { exact: true }).waitFor();
      await press(page, 'Stop');
      await press(page, 'Stop the deployment');
      await page.getByText('Stopped', { exact: true }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('makes tokens with names and roles, and asks who has one why they look into a job', async () => {
      const jobId = await submit(1);
      const page = await browser.openForOperator('/operators');
      await page.getByLabel('Admin token').fill(stack.env['MILLRACE_ADMIN_TOKEN'] ?? '');
      await press(page, 'Sign in');
      await press(page, 'New token');
      await page.getByLabel('Name', { exact: true }).fill('Night shift');
      await press(page, 'Create the token');
      await page.getByText('small letters').waitFor();
      await page.getByLabel('Name', { exact: true }).fill('night-shift');
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Create the token');
      const token = await page.getByText(/^mrop_[\w-]{64}$/).textContent();
      await press(page, 'I have stored it');
      await page.getByRole('cell', { name: /night-shift/ }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);

      await press(page, 'Sign out');
      await page.getByLabel('Admin token').fill(token ?? '');
      await press(page, 'Sign in');
      await page.getByText('token:night-shift', { exact: true }).waitFor();
      await page.goto(browser.operatorsAddress(`/jobs/${jobId}`));
      await page.getByText('Say first why you do this').waitFor();
      await page.getByLabel('Why you act').fill('Ticket 4711');
      await page.getByLabel('Why you act').press('Enter');
      await page.getByText('queued → running').waitFor();
      const entry = await stack.test.database.models.auditEntry.findFirst({ where: { subjectId: jobId } });
      expect(entry).toMatchObject({ actor: 'token:night-shift', action: 'job.read', reason: 'Ticket 4711' });
    });

    it('asks to sign in again when the session has expired, and keeps the address', async () => {
      const page = await browser.openForOperator('/workers');
      await page.getByLabel('Admin token').fill(stack.env['MILLRACE_ADMIN_TOKEN'] ?? '');
      await press(page, 'Sign in');
      await title(page, 'Workers');
      await stack.test.database.models.operatorSession.updateMany({ data: { expiresAt: new Date(0) } });
      await title(page, 'Operators');
      expect(page.url()).toBe(browser.operatorsAddress('/workers'));
      await page.getByText('Your session has ended.').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByLabel('Admin token').fill(stack.env['MILLRACE_ADMIN_TOKEN'] ?? '');
      await press(page, 'Sign in');
      await title(page, 'Workers');
      await press(page, 'Sign out');
      await title(page, 'Operators');
      expect(await page.getByText('Your session has ended.').count()).toBe(0);
    });

    it('is shown on a phone, with a thousand workers of which few are drawn', async () => {
      const { models } = stack.test.database;
      const facts = {
        poolId: stack.env['MILLRACE_POOL'] ?? '',
        engine: 'cpu',
        version: '1.0.0',
        pid: 1,
        state: 'ready',
      };
      const lastSeenAt = new Date(Date.now() + 3_600_000);
      const rows = Array.from({ length: 1_000 }, (_, at) => ({
        id: crypto.randomUUID(),
        host: `host-${at}`,
        ...facts,
        lastSeenAt,
      }));
      await models.worker.createMany({ data: rows });
      const page = await browser.openForOperator('/workers', PHONE);
      await page.getByLabel('Admin token').fill(stack.env['MILLRACE_ADMIN_TOKEN'] ?? '');
      await press(page, 'Sign in');
      await page.getByRole('table', { name: 'Workers' }).waitFor();
      expect(await page.getByRole('row').count()).toBeLessThan(60);
      const { id } = await stack.admin<{ id: string }>('POST', '/accounts', { name: `of-${'a'.repeat(90)}` });
      for (const path of ['/', '/pools', '/jobs', '/accounts', `/accounts/${id}`, '/deployments', '/workers']) {
        await page.goto(browser.operatorsAddress(path));
        await page.getByText(/Updated \d+ s ago/).waitFor();
        expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 360]);
        expect([path, await beyondEdge(page)]).toEqual([path, []]);
        expect([path, await seriousFaults(page)]).toEqual([path, []]);
      }
      await models.worker.deleteMany({ where: { id: { in: rows.map(({ id }) => id) } } });
    });
  });

  describe("an operator's cookie", () => {
    it('is of no use to a page of another port of the same host, to which browsers send it', async () => {
      const page = await browser.openForOperator();
      await signIn(page);
      const server = createServer((_, response) =>
        response.setHeader('Content-Type', 'text/html').end('<!doctype html>'),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      await page.goto(`http://127.0.0.1:${port}/`);
      const url = `${stack.api.opsUrl}/admin/v1/workers/${crypto.randomUUID()}/drain`;
      const answered = page.waitForResponse(url);
      await page.evaluate(`fetch('${url}', { method: 'POST', mode: 'no-cors', credentials: 'include' })`);
      const answer = await answered;
      server.close();
      // Without the cookie it were 401.
      expect(answer.status()).toBe(403);
    });

    it('and its console are nothing to the public listener', async () => {
      for (const path of ['/console/ops', '/console/ops/', '/console/ops/workers', '/admin/v1/workers']) {
        expect([path, (await fetch(`${stack.publicUrl}${path}`)).status]).toEqual([path, 404]);
      }
    });
  });
}
