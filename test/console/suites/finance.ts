import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { Page } from 'playwright-core';
import { ApiClient, testS3, type TestAccount, type TestStack } from '@millrace/testing';
import { beyondEdge, seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const { endpoint, region, ...credentials } = testS3();

/** The warning of low credits, daily exports, and limits by label. Needs loopback among the networks of exports. */
export function finance(shared: ConsoleStack): void {
  const bucket = `millrace-${randomUUID()}`;

  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
    const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    client.destroy();
  });

  describe('finance in the console', () => {
    it('sets below how many credits the account is warned', async () => {
      const page = await browser.openSignedIn(account, '/usage');
      const field = page.getByLabel('Warn below so many credits');
      await field.fill('-1');
      await page.getByText('Must be a number such as').waitFor();
      expect(await page.getByRole('button', { name: 'Set the limit' }).isDisabled()).toBe(true);
      await field.fill('12.5');
      await press(page, 'Set the limit');
      await page.getByText('The limit is set').waitFor();
      const api = new ApiClient(stack.publicUrl, account.apiKey);
      expect((await api.call('GET', '/platform/v1/credits/alert')).body).toEqual({ below_micros: 12_500_000 });
      expect(await seriousFaults(page)).toEqual([]);
      await page.close();
    });

    it('shows an amount of the ledger on one line, however long it is', async () => {
      const rich = await stack.createAccount();
      await stack.admin('POST', `/accounts/${rich.id}/credits`, {
        amount_micros: 1_234_567_890_123_456,
        reason: 'a test',
      });
      for (const width of [360, 1_280]) {
        const page = await browser.openSignedIn(rich, '/usage', { viewport: { width, height: 800 } });
        await page.getByRole('cell').getByText('+1,234,567,890.123456', { exact: true }).waitFor();
        const lines = await page.evaluate<number>(`(() => {
          const range = document.createRange();
          range.selectNodeContents(
            [...document.querySelectorAll('.ledger-line .number')].find((cell) => cell.textContent === '+1,234,567,890.123456'),
          );
          return range.getClientRects().length;
        })()`);
        expect([width, lines]).toEqual([width, 1]);
        expect([width, await beyondEdge(page)]).toEqual([width, []]);
        await page.close();
      }
    });

    it('takes no amount that a reader of another language may mean otherwise', async () => {
      const page = await browser.openSignedIn(account, '/usage', { locale: 'de-DE' });
      const alert = page.getByLabel('Warn below so many credits');
      await alert.fill('3.000');
      await page.getByText('Could be 3000 or 3: write 3000, or 3.0000.').waitFor();
      expect(await page.getByRole('button', { name: 'Set the limit' }).isDisabled()).toBe(true);
      expect(await seriousFaults(page)).toEqual([]);
      await page.goto(browser.address('/account'));
      for (const [form, field, act] of [
        ['Cap of the account', 'Cap of a day', 'Set the cap'],
        ['Limit of a label', 'Hours kept', 'Set the limit'],
      ] as const) {
        const fields = page.getByRole('form', { name: form });
        if (form === 'Limit of a label') await fields.getByLabel('Label', { exact: true }).fill('user');
        await fields.getByLabel(field).fill('1.000');
        await fields.getByText('Could be 1000 or 1: write 1000, or 1.0000.').waitFor();
        expect(await fields.getByRole('button', { name: act }).isDisabled()).toBe(true);
      }
    });

    it('has exports written to a bucket, says what a test came to, and removes it', async () => {
      const page = await browser.openSignedIn(account, '/usage');
      const set = async (name: string): Promise<void> => {
        for (const [label, value] of [
          ['Bucket', name],
          ['Region', region],
          ['Endpoint', endpoint],
          ['Prefix', 'books'],
          ['Access key', credentials.accessKeyId],
          ['Secret access key', credentials.secretAccessKey],
        ] as const) {
          await page.getByLabel(label, { exact: true }).fill(value);
        }
        expect(await seriousFaults(page)).toEqual([]);
        await press(page, 'Set the bucket');
        await page.getByText(`s3://${name}/books/`).waitFor();
      };
      await press(page, 'Write them to a bucket');
      await set('there-is-no-such-bucket');
      await press(page, 'Test');
      await page.getByText('There is no such bucket.').first().waitFor();
      await press(page, 'Change the bucket');
      await set(bucket);
      await press(page, 'Test');
      await page.getByText('The last test was written.').waitFor();
      // The last complete day is written by itself.
      await page.getByRole('cell', { name: 'written', exact: true }).first().waitFor();
      expect(await page.content()).not.toContain(credentials.secretAccessKey);
      const href = await page
        .getByRole('link', { name: /^Usage of/ })
        .first()
        .getAttribute('href');
      expect(href).toMatch(/^\/platform\/v1\/exports\/[\d-]+\/usage\.csv\.gz$/);
      await press(page, 'Disable');
      await page.getByText('Disabled', { exact: true }).waitFor();
      await press(page, 'Enable');
      await page.getByText('Enabled', { exact: true }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Remove');
      await page.getByRole('button', { name: 'Write them to a bucket' }).waitFor();
      await page.close();
    });

    it('caps what jobs may cost, and lifts the cap', async () => {
      const page = await browser.openSignedIn(account, '/account');
      await page.getByText('Jobs may cost as much as there are credits.').waitFor();
      const form = page.getByRole('form', { name: 'Cap of the account' });
      await form.getByLabel('Cap of a day').fill('30');
      await form.getByLabel("When a day's").selectOption('stop');
      await press(page, 'Set the cap');
      await page.getByText(/of 30\.?0* credits a day/).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      const api = new ApiClient(stack.publicUrl, account.apiKey);
      const { body } = await api.call<{ spend_caps: object[] }>('GET', '/platform/v1/spend');
      const cap = { scope: 'account', daily_micros: 30_000_000, daily_at_cap: 'stop', monthly_micros: null };
      expect(body.spend_caps).toMatchObject([cap]);
      // What is not touched stays: the cap of the day, and what happens at it.
      await page.reload();
      await form.getByLabel('Cap of a month').fill('400');
      await press(page, 'Set the cap');
      await page.getByText(/of 400\.?0* credits a month/).waitFor();
      const { body: both } = await api.call<{ spend_caps: object[] }>('GET', '/platform/v1/spend');
      expect(both.spend_caps).toMatchObject([{ ...cap, monthly_micros: 400_000_000, monthly_at_cap: 'finish' }]);
      await press(page, 'Delete the cap of account');
      await press(page, 'Delete the cap');
      await page.getByText('Jobs may cost as much as there are credits.').waitFor();
      await page.close();
    });

    it('limits the jobs of a label, and lifts the limit', async () => {
      const page = await browser.openSignedIn(account, '/account');
      await page.getByText('Jobs with a label such as user=ada may use').waitFor();
      await page.getByLabel('Label', { exact: true }).fill('user=ada');
      await page.getByLabel('Jobs at a time').fill('3');
      await page.getByLabel('Credits a day').fill('2.5');
      await press(page, 'Set the limit');
      await page.getByText(/^3 jobs at a time · 2\.50* credits a day$/).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      // Another limit of the label joins what it has.
      await page.getByLabel('Label', { exact: true }).fill('user=ada');
      await page.getByRole('form', { name: 'Limit of a label' }).getByLabel("When a day's").selectOption('stop');
      await page.getByLabel('Credits a month').fill('9');
      await press(page, 'Set the limit');
      await page.getByText(/^3 jobs at a time · 2\.50* credits a day · 9\.?0* credits a month$/).waitFor();
      const ofAda = await new ApiClient(stack.publicUrl, account.apiKey).call<{ label_rules: object[] }>(
        'GET',
        '/platform/v1/label-rules',
      );
      expect(ofAda.body.label_rules).toMatchObject([{ max_jobs: 3, daily_micros: 2_500_000, daily_at_cap: 'stop' }]);
      await page.getByLabel('Label', { exact: true }).fill('user');
      await page.getByLabel('Hours kept').fill('48');
      await press(page, 'Set the limit');
      await page.getByText('kept for 48 h').waitFor();
      await press(page, 'Delete the limit of user=ada');
      await press(page, 'Delete the limit');
      await page.getByText('3 jobs at a time').waitFor({ state: 'detached' });
      const api = new ApiClient(stack.publicUrl, account.apiKey);
      const { body } = await api.call<{ label_rules: object[] }>('GET', '/platform/v1/label-rules');
      expect(body.label_rules).toMatchObject([{ label: 'user', value: null, retention_seconds: 172_800 }]);
      await page.close();
    });
  });
}
