import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ErrorEnvelope, OperatorRole } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, type TestAccount } from '@millrace/testing';

/*
 * What operators with names do and are refused, and who reads of it: by tokens of machines, on a stack that runs. People who sign in by a
 * provider are in `console/operator-sign-in.e2e-spec.ts`.
 */

const CLI = join(process.cwd(), 'dist/apps/cli/src/main.js');
const run = promisify(execFile);

interface Entry {
  actor: string;
  action: string;
  address: string | null;
  reason: string | null;
  subject_id: string;
}

let stack: TestStack;
let account: TestAccount;
beforeAll(async () => {
  stack = await TestStack.start();
});
beforeEach(async () => {
  account = await stack.createAccount();
});
afterAll(() => stack.stop());

let count = 0;
async function operator(role: OperatorRole, more: object = {}): Promise<{ id: string; name: string; api: ApiClient }> {
  count += 1;
  const name = `${role}-${count}`;
  const made = await stack.admin<{ id: string; token: string }>('POST', '/operator-tokens', { name, role, ...more });
  return { id: made.id, name, api: stack.operator(made.token) };
}
const ofOperators = async (query: string): Promise<Entry[]> =>
  (await stack.admin<{ entries: Entry[] }>('GET', `/audit-log?${query}`)).entries;
/** What the account reads of its log on its command line. */
async function ofAccount(...filters: string[]): Promise<Entry[]> {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', MILLRACE_URL: stack.publicUrl };
  const { stdout } = await run(process.execPath, [CLI, 'audit', 'list', '--json', ...filters], {
    env: { ...env, MILLRACE_API_KEY: account.apiKey },
  });
  return (JSON.parse(stdout) as { entries: Entry[] }).entries;
}
const because = (reason: string): { headers: Record<string, string> } => ({
  headers: { 'Millrace-Reason': encodeURIComponent(reason) },
});

describe('an operator of finance', () => {
  it('moves credits, with a reason that the account reads, and is refused all else with a sentence', async () => {
    const { name, api } = await operator('finance');
    const path = `/admin/v1/accounts/${account.id}`;
    const granted = await api.call('POST', `${path}/credits`, { json: { amount_micros: 5, reason: 'invoice 12' } });
    expect(granted.status).toBe(201);
    const others: [string, string, object?][] = [
      ['PATCH', path, { status: 'suspended' }],
      ['POST', `${path}/api-keys`, { name: 'of somebody else' }],
      ['POST', `${path}/erasures`, { subject: 'account', confirm: `erase account ${account.id}` }],
      ['GET', `${path}/export`],
      ['POST', '/admin/v1/operator-tokens', { name: 'another-one', role: 'admin' }],
    ];
    for (const [method, target, json] of others) {
      const { status, body } = await api.call<ErrorEnvelope>(method, target, { json, ...because('no good one') });
      expect([target, status, body.error.code]).toEqual([target, 403, 'forbidden']);
      expect(body.error.message).toMatch(new RegExp(`needs the role \\w+, and token:${name} has the role finance`));
    }
    const [latest] = await ofOperators(`account_id=${account.id}&action=credits.adjust`);
    expect(latest).toMatchObject({ actor: `token:${name}`, reason: 'invoice 12' });
    const [seen] = await ofAccount('--action', 'credits.adjust');
    expect(seen).toMatchObject({ actor: 'operator', address: null, reason: 'invoice 12' });
  });
});

describe('an operator token', () => {
  it('ends when it says, and who presents it later is in the log', async () => {
    const expires = new Date(Date.now() + 4_000);
    const { id, api } = await operator('viewer', { expires_at: expires.toISOString() });
    const refused = await eventually('it to end', async () => {
      const answer = await api.call<ErrorEnvelope>('GET', '/admin/v1/workers');
      if (answer.status === 401) return answer;
      expect(answer.status).toBe(200);
      return null;
    });
    expect(Date.now()).toBeGreaterThanOrEqual(expires.getTime());
    expect(refused.body.error.message).toContain('expired');
    await eventually('the refusal to be in the log', async () =>
      (await ofOperators('action=operator_token.refuse')).find(
        ({ subject_id: subject, actor }) => subject === id && actor === 'unauthenticated',
      ),
    );
  });
});

describe('an operator who looks into a job', () => {
  it('says why, and its owner reads that somebody did, why, and not who', async () => {
    const client = new ApiClient(stack.publicUrl, account.apiKey);
    const { id } = await client.run({
      '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
    });
    await client.ended(id);
    const { name, api } = await operator('viewer');
    const path = `/admin/v1/jobs/${id}`;
    const unsaid = await api.call<ErrorEnvelope>('GET', path);
    expect([unsaid.status, unsaid.text]).toEqual([400, expect.stringContaining('Millrace-Reason') as string]);
    expect(await ofAccount('--action', 'job.read')).toEqual([]);
    for (const reason of ['ticket 4711: picture is grey', 'ticket 4711: picture is grey', 'ticket 4712'])
      expect((await api.call('GET', path, because(reason))).status).toBe(200);
    expect((await ofOperators(`subject_id=${id}`)).map(({ actor, reason }) => [actor, reason])).toEqual([
      [`token:${name}`, 'ticket 4712'],
      [`token:${name}`, 'ticket 4711: picture is grey'],
    ]);
    const seen = await ofAccount('--action', 'job.read');
    expect(seen.map(({ actor, address, reason, subject_id: subject }) => [actor, address, reason, subject])).toEqual([
      ['operator', null, 'ticket 4712', id],
      ['operator', null, 'ticket 4711: picture is grey', id],
    ]);
    const other = await stack.createAccount();
    const theirs = await new ApiClient(stack.publicUrl, other.apiKey).call('GET', '/platform/v1/audit');
    expect(theirs.text).not.toContain(id);
  });
});
