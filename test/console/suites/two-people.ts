import type { Page } from 'playwright-core';
import { ApiClient, type TestAccount, type TestStack } from '@millrace/testing';
import { modal, seriousFaults, showTab, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let api: ApiClient;
let browser: ConsoleBrowser;

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const CREDIT = 1_000_000;

interface Bound {
  id: string;
  daily_micros: number | null;
  monthly_micros: number | null;
}

const capOf = async (): Promise<Bound | undefined> =>
  (await api.call<{ spend_caps: Bound[] }>('GET', '/platform/v1/spend')).body.spend_caps[0];
const setCap = (monthly: number): Promise<unknown> =>
  api.call('PUT', '/platform/v1/spend/caps', { json: { scope: 'account', monthly_micros: monthly * CREDIT } });
const ruleOf = async (): Promise<Bound | undefined> =>
  (await api.call<{ label_rules: Bound[] }>('GET', '/platform/v1/label-rules')).body.label_rules[0];
const setRule = (monthly: number): Promise<unknown> =>
  api.call('PUT', '/platform/v1/label-rules', {
    json: { label: 'user', value: 'ada', monthly_micros: monthly * CREDIT },
  });

/** Forms that are open while somebody else changes the same record. Needs loopback among the networks of webhooks. */
export function twoPeople(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
    api = new ApiClient(stack.publicUrl, account.apiKey);
  });

  describe('what another changes while a form is open', () => {
    it('is shown and kept, of a spend cap', async () => {
      await setCap(1_000);
      const page = await browser.openSignedIn(account, '/account');
      await page.getByText(/of 1,000\.?0* credits a month/).waitFor();
      await setCap(100);
      await page.getByText(/of 100\.?0* credits a month/).waitFor();
      // Nothing is read again by itself.
      await showTab(page, 'hidden');
      await setCap(50);
      await page.getByLabel('Cap of a day').fill('5');
      await press(page, 'Set the cap');
      await page.getByText(/of 5\.?0* credits a day/).waitFor();
      expect(await capOf()).toMatchObject({ daily_micros: 5 * CREDIT, monthly_micros: 50 * CREDIT });
    });

    it('is shown and kept, of the limit of a label', async () => {
      await setRule(1_000);
      const page = await browser.openSignedIn(account, '/account');
      await page.getByText(/^1,000\.?0* credits a month/).waitFor();
      await setRule(100);
      await page.getByText(/^100\.?0* credits a month/).waitFor();
      await showTab(page, 'hidden');
      await setRule(50);
      await page.getByLabel('Label', { exact: true }).fill('user=ada');
      await page.getByLabel('Credits a day').fill('5');
      await press(page, 'Set the limit');
      await page.getByText(/^5\.?0* credits a day/).waitFor();
      expect(await ruleOf()).toMatchObject({ daily_micros: 5 * CREDIT, monthly_micros: 50 * CREDIT });
    });

    it('is kept, of the URL of a webhook endpoint', async () => {
      const json = { url: 'http://127.0.0.1:9/first', description: 'before' };
      const path = '/platform/v1/webhook-endpoints';
      const { id } = (await api.call<{ id: string }>('POST', path, { json })).body;
      const page = await browser.openSignedIn(account, `/webhooks/${id}`);
      await press(page, 'Change');
      await modal(page).getByLabel('Description').fill('after');
      await api.call('PATCH', `${path}/${id}`, { json: { url: 'http://127.0.0.1:9/second' } });
      await modal(page).getByRole('button', { name: 'Change the endpoint' }).click();
      await modal(page).waitFor({ state: 'detached' });
      const { body } = await api.call('GET', `${path}/${id}`);
      expect(body).toMatchObject({ url: 'http://127.0.0.1:9/second', description: 'after' });
    });

    it("is kept, of an account's limits", async () => {
      const page = await browser.openForOperator(`/accounts/${account.id}`);
      await page.getByLabel('Admin token').fill(stack.env['MILLRACE_ADMIN_TOKEN'] ?? '');
      await press(page, 'Sign in');
      await press(page, 'Change');
      await modal(page).getByLabel('Running limit').fill('3');
      await stack.admin('PATCH', `/accounts/${account.id}`, { queue_limit: 77 });
      // Behind the dialog the page has read it.
      await page.locator('dd', { hasText: /^77$/ }).waitFor();
      await press(page, 'Change the limits');
      await page.getByText('The limits are changed').waitFor();
      const limits = { running_limit: 3, queue_limit: 77 };
      expect(await stack.admin('GET', `/accounts/${account.id}`)).toMatchObject(limits);
    });
  });

  describe('a delete in the console', () => {
    it('of a spend cap asks first, and is done where another was faster', async () => {
      await setCap(100);
      const page = await browser.openSignedIn(account, '/account');
      await press(page, 'Delete the cap of account');
      await page.getByRole('heading', { name: 'Delete the cap of account?' }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await api.call('DELETE', `/platform/v1/spend/caps/${(await capOf())?.id ?? ''}`);
      await press(page, 'Delete the cap');
      await page.getByText('The cap of account is deleted').waitFor();
      expect(await page.getByText('was not deleted').count()).toBe(0);
    });

    it('of the limit of a label asks first, and is done where another was faster', async () => {
      await setRule(100);
      const page = await browser.openSignedIn(account, '/account');
      await press(page, 'Delete the limit of user=ada');
      await page.getByRole('heading', { name: 'Delete the limit of user=ada?' }).waitFor();
      await api.call('DELETE', `/platform/v1/label-rules/${(await ruleOf())?.id ?? ''}`);
      await press(page, 'Delete the limit');
      await page.getByText('The limit of user=ada is deleted').waitFor();
      expect(await page.getByText('was not deleted').count()).toBe(0);
    });
  });
}
