import type { ServerResponse } from 'node:http';
import type { Locator, Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { lowestIdAt, newId } from '@millrace/contracts';
import { LOOKED_AT } from '@millrace/database';
import { ApiClient, eventually, type TestAccount, type TestStack } from '@millrace/testing';
import { TestReceiver, type ReceivedMessage } from '../../../libs/webhooks/src/fixtures/receiver';
import { modal, seriousFaults, showTab, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;
let receiver: TestReceiver;

const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const;
const HOSTILE = '<img src=x onerror=alert(1)> is away';
const GRAPH = {
  '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
};

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const title = (page: Page, name: string): Promise<void> => page.getByRole('heading', { name, exact: true }).waitFor();
const messages = (page: Page, type: string): Locator =>
  page.getByRole('list', { name: 'Messages' }).getByRole('listitem', { name: type });
const answerWith = (status: number, body: string) => (response: ServerResponse) => response.writeHead(status).end(body);
const isSignedBy = (secret: string, { headers, body }: ReceivedMessage): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};
/** Attempts to send the end of the account's one job. */
const attemptsOfJobs = (): Promise<number> =>
  stack.test.database.models.webhookAttempt.count({
    where: { message: { type: 'job.succeeded', endpoint: { accountId: account.id } } },
  });
/** The message that is the next to arrive after so many. */
const nextAfter = (count: number): Promise<ReceivedMessage> =>
  eventually('the next message', () => receiver.received[count]);

/** The secret that a dialog shows once; it is closed then. */
async function shownSecret(page: Page): Promise<string> {
  await title(page, 'The signing secret');
  const secret = await page.locator('.code-block pre').innerText();
  expect(secret).toMatch(/^whsec_/);
  await page.keyboard.press('Escape');
  await title(page, 'The signing secret');
  expect(await seriousFaults(page)).toEqual([]);
  await press(page, 'I have stored it');
  expect(await page.content()).not.toContain(secret);
  return secret;
}

/** Endpoints and the log of what was sent to them. Needs one worker, and loopback among the allowed networks. */
export function webhooks(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    receiver = await TestReceiver.open();
    account = await stack.createAccount();
  });
  afterAll(async () => {
    await receiver.close();
  });

  describe('webhooks in the console', () => {
    let first: string;

    it('begin with an empty page, refuse an address that is not public, and show the secret of an endpoint once', async () => {
      const page = await browser.openSignedIn(account, '/webhooks');
      await title(page, 'No endpoints yet');
      await page.getByRole('link', { name: 'how webhooks work' }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'New endpoint');
      const create = page.getByRole('button', { name: 'Create the endpoint' });
      expect(await create.isDisabled()).toBe(true);
      await page.getByLabel('URL').fill('http://10.0.0.1/hook');
      await create.click();
      await page.getByText('The endpoint was not created').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByLabel('URL').fill(receiver.url);
      await page.getByLabel('Description').fill('a test');
      for (const event of ['job.canceled', 'job.expired']) await page.getByLabel(event, { exact: true }).uncheck();
      await create.click();
      first = await shownSecret(page);
      const row = page.getByRole('row').filter({ hasText: receiver.url });
      await row.getByText('job.failed').waitFor();
      expect(await row.getByText('job.canceled').count()).toBe(0);
      await row.getByText('Enabled', { exact: true }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('send a test and the end of a job, and show how each was answered', async () => {
      const page = await browser.openSignedIn(account, '/webhooks');
      await page.getByRole('link', { name: receiver.url }).click();
      await page.getByText('Nothing was sent yet.').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Send a test');
      await messages(page, 'webhook.test').getByText('Delivered', { exact: true }).waitFor();
      expect(isSignedBy(first, await nextAfter(0))).toBe(true);

      receiver.answer = answerWith(500, HOSTILE);
      const job = await new ApiClient(stack.publicUrl, account.apiKey).run(GRAPH);
      const message = messages(page, 'job.succeeded');
      // The next attempt comes after some seconds: on a slow machine there are more than one before they are seen.
      await message.getByText(/^(1 attempt|\d+ attempts), the last: answered 500/).click();
      await message.getByText(HOSTILE).first().waitFor();
      await message.getByText('Waiting', { exact: true }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      receiver.answer = answerWith(200, 'ok');
      const { webhookMessage } = stack.test.database.models;
      await webhookMessage.updateMany({ data: { dueAt: new Date(0) }, where: { jobId: job.id } });
      await message.getByText('Delivered', { exact: true }).waitFor();
      await message.getByText(`${await attemptsOfJobs()} attempts, the last: answered 200`).waitFor();
      await message.getByRole('link').click();
      await page.waitForURL(new RegExp(`/jobs/${job.id}$`));
    });

    it('rotate the secret with an overlap, in which both sign', async () => {
      const page = await browser.openSignedIn(account, '/webhooks');
      await page.getByRole('link', { name: receiver.url }).click();
      await press(page, 'Rotate the secret');
      await page.getByLabel('The old secret also signs for').selectOption('1 hour');
      await modal(page).getByRole('button', { name: 'Rotate the secret' }).click();
      const second = await shownSecret(page);
      const count = receiver.received.length;
      await press(page, 'Send a test');
      const message = await nextAfter(count);
      expect([isSignedBy(first, message), isSignedBy(second, message)]).toEqual([true, true]);
    });

    it('send one message again, and a time span, under the same ids', async () => {
      const page = await browser.openSignedIn(account, '/webhooks');
      await page.getByRole('link', { name: receiver.url }).click();
      const job = messages(page, 'job.succeeded');
      const sent = receiver.ids;
      const attempts = await attemptsOfJobs();
      await job.getByRole('button', { name: 'Send again' }).click();
      const again = await nextAfter(sent.length);
      expect(sent).toContain(again.headers['webhook-id']);
      await job.getByText(`${attempts + 1} attempts`).waitFor();

      await press(page, 'Send a time span again');
      await page.getByLabel('Events from').fill('2020-01-01T00:00');
      await page.getByLabel('Events before').fill('2020-02-01T00:00');
      await page.getByLabel('Also those that were delivered').check();
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Send them again');
      await page.getByText('0 messages are sent again').waitFor();
      await press(page, 'Send a time span again');
      await page.getByLabel('Also those that were delivered').check();
      const before = receiver.received.length;
      await press(page, 'Send them again');
      await page.getByText('3 messages are sent again').waitFor();
      await eventually('all of them arrive', () => receiver.received.length === before + 3);
      expect(new Set(receiver.ids.slice(before))).toEqual(new Set(sent));
    });

    it('are filtered by the address, changed, disabled, enabled and deleted', async () => {
      const page = await browser.openSignedIn(account, '/webhooks');
      await page.getByRole('link', { name: receiver.url }).click();
      await messages(page, 'job.succeeded').getByText('Delivered', { exact: true }).waitFor();
      await page.getByLabel('State of messages').selectOption('Given up');
      await page.getByText('No message is in this state').waitFor();
      expect(new URL(page.url()).search).toBe('?state=failed');

      await press(page, 'Change');
      await page.getByLabel('job.failed', { exact: true }).uncheck();
      await modal(page).getByRole('button', { name: 'Change the endpoint' }).click();
      await modal(page).waitFor({ state: 'detached' });
      await page.getByText('job.succeeded', { exact: true }).first().waitFor();
      await page.getByText('job.failed', { exact: true }).waitFor({ state: 'detached' });

      await press(page, 'Disable');
      await page.getByText('Events are recorded and wait.').waitFor();
      expect(await page.getByRole('button', { name: 'Send a test' }).count()).toBe(0);
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Enable');
      await page.getByText('Enabled', { exact: true }).waitFor();

      await press(page, 'Delete');
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Delete the endpoint');
      await title(page, 'No endpoints yet');
    });

    it('are looked for further back where none of the latest is in a state', async () => {
      const client = new ApiClient(stack.publicUrl, account.apiKey);
      const json = { url: receiver.url };
      const { id } = (await client.call<{ id: string }>('POST', '/platform/v1/webhook-endpoints', { json })).body;
      const { webhookMessage } = stack.test.database.models;
      const message = { endpointId: id, type: 'webhook.test', endedAt: new Date() };
      await webhookMessage.create({ data: { ...message, id: lowestIdAt(Date.now() - 60_000), state: 'failed' } });
      await webhookMessage.createMany({
        data: Array.from({ length: LOOKED_AT }, () => ({ ...message, id: newId(), state: 'delivered' })),
      });
      const page = await browser.openSignedIn(account, `/webhooks/${id}?state=failed`);
      await page.getByText('None of the latest messages is in this state: given up.').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Look further back');
      await messages(page, 'webhook.test').getByText('Given up', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Look further back' }).waitFor({ state: 'detached' });
      await press(page, 'Delete');
      await press(page, 'Delete the endpoint');
      await title(page, 'No endpoints yet');
    });

    it('say what went wrong when they cannot be read', async () => {
      const page = await browser.openSignedIn(account);
      await title(page, 'Jobs');
      // Nothing is read again by itself, before somebody presses.
      await showTab(page, 'hidden');
      const body = JSON.stringify({ error: { code: 'upstream_error', message: 'A part of the service is away.' } });
      await page.route('**/platform/v1/webhook-endpoints*', (route) =>
        route.fulfill({ status: 400, contentType: 'application/json', body }),
      );
      await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
      await page.getByText('A part of the service is away.').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.unrouteAll();
      await press(page, 'Try again');
      await title(page, 'No endpoints yet');
      await page.goto(browser.address(`/webhooks/${crypto.randomUUID()}`));
      await page.getByText('There is no webhook endpoint').waitFor();
    });

    it('are shown on a phone', async () => {
      const client = new ApiClient(stack.publicUrl, account.apiKey);
      const json = { url: `${receiver.url}/${'long'.repeat(40)}`, description: 'of a phone' };
      const { body } = await client.call<{ id: string }>('POST', '/platform/v1/webhook-endpoints', { json });
      await client.call('POST', `/platform/v1/webhook-endpoints/${body.id}/test`);
      const page = await browser.openSignedIn(account, '/webhooks', PHONE);
      await page.getByText('of a phone').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByRole('link', { name: json.url }).click();
      await messages(page, 'webhook.test').getByText('Delivered', { exact: true }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('are only read by a session that may not change them, and not at all by one that may not read them', async () => {
      for (const [scope, shown] of [
        ['webhooks:read', true],
        ['jobs:read', false],
      ] as const) {
        const wish = { name: 'reader', scopes: [scope] };
        const { key } = await stack.admin<{ key: string }>('POST', `/accounts/${account.id}/api-keys`, wish);
        const page = await browser.open('/account');
        await page.getByLabel('API key').fill(key);
        await press(page, 'Sign in');
        await title(page, 'Account');
        expect(await page.getByRole('link', { name: 'Webhooks', exact: true }).count()).toBe(shown ? 1 : 0);
        if (!shown) continue;
        await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
        await page.getByText('of a phone').waitFor();
        expect(await page.getByRole('button', { name: 'New endpoint' }).count()).toBe(0);
      }
    });
  });
}
