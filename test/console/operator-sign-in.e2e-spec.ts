import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { TestStack, type TestProcess } from '@millrace/testing';
import { freePort } from '../../scripts/lib/system/ports.mjs';
import { ConsoleBrowser } from './support/console-browser';

/*
 * Operators who sign in by the provider of their organisation, in a browser: an OpenID Connect provider of others, and an api of which the
 * ops listener has no shared token.
 */

const PROVIDER = join(process.cwd(), 'apps/api/src/fixtures/identity-provider.mjs');
const GROUPS = { ada: ['platform'], vera: ['staff'], cleo: ['nobody'] };
const LIMIT_MS = 300_000;

let provider: ChildProcess;
let stack: TestStack;
let api: TestProcess;
let browser: ConsoleBrowser;
let accountId: string;
beforeAll(async () => {
  stack = await TestStack.start({ workers: 0 });
  ({ id: accountId } = await stack.createAccount());
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const callback = `${origin}/admin/v1/sign-in/callback`;
  provider = fork(PROVIDER, [callback, JSON.stringify(GROUPS)], { silent: true, execArgv: ['--no-warnings'] });
  const [line] = (await once(provider.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  api = await stack.spawn('api', {
    MILLRACE_OPS_PORT: String(port),
    MILLRACE_ADMIN_TOKEN: '',
    MILLRACE_OPERATORS_ISSUER: line.toString().trim(),
    MILLRACE_OPERATORS_CLIENT_ID: 'millrace',
    MILLRACE_OPERATORS_CLIENT_SECRET: 'secret-of-a-test',
    MILLRACE_OPERATORS_URL: origin,
    MILLRACE_OPERATORS_ROLES: 'admin=platform,viewer=staff',
  });
  browser = await ConsoleBrowser.launch(stack);
}, LIMIT_MS);
afterEach(() => browser.closePages());
afterAll(async () => {
  await browser.close();
  provider.kill();
  await stack.stop();
});

/** Sign in at the provider, who asks for a name and then for consent, and back. */
async function signIn(who: string, path = ''): Promise<Page> {
  const page = await browser.open(`${api.opsUrl}/console/ops/${path}`);
  await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
  await page.locator('input[name=login]').fill(who);
  await page.locator('input[name=password]').fill('x');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${api.opsUrl}/console/ops/**`);
  return page;
}
/** As a page of the console grants credits. */
const grant = (page: Page, json: object): Promise<{ status: number; text: string }> =>
  page.evaluate(
    async ([path, body]) => {
      const headers = { 'Millrace-Console': '1', 'Content-Type': 'application/json' };
      const answer = await fetch(path, { method: 'POST', body, headers });
      return { status: answer.status, text: await answer.text() };
    },
    [`/admin/v1/accounts/${accountId}/credits`, JSON.stringify({ amount_micros: 1_000_000, ...json })] as const,
  );

it(
  'an admin is known by name, gives a reason for money, and stands with both in the log',
  async () => {
    const page = await signIn('ada');
    await page.getByText('operator:ada@example.com', { exact: true }).waitFor();
    const unsaid = await grant(page, {});
    expect([unsaid.status, unsaid.text]).toEqual([422, expect.stringContaining('reason') as string]);
    expect((await grant(page, { reason: 'Ticket 4711' })).status).toBe(201);
    const entry = await stack.test.database.models.auditEntry.findFirst({
      where: { accountId, actor: 'operator:ada@example.com' },
    });
    expect(entry).toMatchObject({
      details: { reason: 'Ticket 4711' },
      address: expect.stringContaining('127.0.0.1') as string,
    });
  },
  LIMIT_MS,
);

it(
  'who signs in goes on at the same place',
  async () => {
    const page = await signIn('vera', 'workers?stopped=true');
    await page.getByRole('heading', { name: 'Workers', exact: true }).waitFor();
    expect(page.url()).toBe(`${api.opsUrl}/console/ops/workers?stopped=true`);
  },
  LIMIT_MS,
);

it(
  'a viewer looks, and is refused each act with a sentence',
  async () => {
    const page = await signIn('vera');
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
    const { status, text } = await grant(page, { reason: 'a try' });
    expect([status, text]).toEqual([403, expect.stringContaining('role') as string]);
  },
  LIMIT_MS,
);

it(
  'who has no group with a role is sent back, and reads what to ask for',
  async () => {
    const page = await signIn('cleo');
    await page.getByText('None of your groups has a role here').waitFor();
    expect((await grant(page, { reason: 'a try' })).status).toBe(401);
  },
  LIMIT_MS,
);
