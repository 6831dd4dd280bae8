import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Comfy } from '@comfyorg/sdk';
import {
  ApiClient,
  TestStack,
  createTestFolder,
  eventually,
  type TestAccount,
  type TestFolder,
} from '@millrace/testing';

/*
 * From where the keys of an account work and for how long, and the log in which its people read what happened to it: on a stack behind a
 * proxy, by the official client and the command line.
 */

const OFFICE = '203.0.113.7';
const ELSEWHERE = '198.51.100.9';
const RULES = '/platform/v1/account/access';
const KEYS = '/platform/v1/api-keys';
const CLI = join(process.cwd(), 'dist/apps/cli/src/main.js');
const run = promisify(execFile);

interface Key {
  id: string;
  key: string;
  expires_at: string | null;
  last_used_at: string | null;
}
interface Entry {
  actor: string;
  action: string;
  address: string | null;
  reason: string | null;
}

let stack: TestStack;
let folder: TestFolder;
let account: TestAccount;
let owner: ApiClient;
beforeAll(async () => {
  folder = await createTestFolder();
  stack = await TestStack.start({ workers: 0, settings: { MILLRACE_TRUSTED_PROXIES: '1' } });
});
beforeEach(async () => {
  account = await stack.createAccount();
  owner = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(async () => {
  await stack.stop();
  await folder.drop();
});

const from = (address: string) => ({ 'X-Forwarded-For': address });
const rules = (json: object) => owner.call('PATCH', RULES, { json, headers: from(OFFICE) });
const statusFrom = async (address: string, key = account.apiKey): Promise<number> =>
  (await new ApiClient(stack.publicUrl, key).call('GET', '/api/v2/jobs', { headers: from(address) })).status;
async function make(json: object): Promise<Key> {
  const { status, body } = await owner.call<Key>('POST', KEYS, { json, headers: from(OFFICE) });
  expect(status).toBe(201);
  return body;
}
async function entries(query = ''): Promise<Entry[]> {
  const { body } = await owner.call<{ entries: Entry[] }>('GET', `/platform/v1/audit${query}`, {
    headers: from(OFFICE),
  });
  return body.entries;
}

describe('an account that is used from its offices alone', () => {
  it('refuses its keys from elsewhere everywhere, the official client too, and its people read of it', async () => {
    expect((await rules({ allowed_addresses: ['203.0.113.0/24'] })).status).toBe(200);
    await eventually('the rule to hold', async () => (await statusFrom(ELSEWHERE)) === 403);
    expect(await statusFrom(OFFICE)).toBe(200);
    process.env.COMFY_BASE_URL = stack.publicUrl;
    // It calls from this machine, which is none of the offices.
    const official = new Comfy({ apiKey: account.apiKey });
    const workflow = official.workflows.fromJson({ '1': { class_type: 'SaveImage', inputs: {} } });
    await expect(official.submit(workflow)).rejects.toThrow(/does not contain the address that this request came from/);
    const [refusal] = await entries('?action=api_key.refuse_address');
    expect([ELSEWHERE, '127.0.0.1']).toContain(refusal?.address?.replace('::ffff:', ''));
    // An operator opens what the account has locked itself out of.
    const path = `/admin/v1/accounts/${account.id}/access`;
    await stack.admin('PATCH', path.replace('/admin/v1', ''), { allowed_addresses: [] });
    await eventually('all to be let in', async () => (await statusFrom(ELSEWHERE)) === 200);
  });

  it('cannot lock out who sets the rule, and reads what is no network', async () => {
    const locked = await rules({ allowed_addresses: ['192.0.2.0/24'] });
    expect([locked.status, locked.text]).toEqual([422, expect.stringContaining('allowed_addresses') as string]);
    const wrong = await rules({ allowed_addresses: [OFFICE, 'the office'] });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('allowed_addresses[1]') as string]);
  });

  it('has keys that work from one place, and get no older than a maximum', async () => {
    const ci = await make({ name: 'ci', allowed_addresses: [OFFICE] });
    expect([await statusFrom(OFFICE, ci.key), await statusFrom(ELSEWHERE, ci.key)]).toEqual([200, 403]);
    const old = await make({ name: 'from long ago' });
    expect(await statusFrom(OFFICE, old.key)).toBe(200);
    const createdAt = new Date(Date.now() - 2 * 86_400_000);
    await stack.test.database.models.apiKey.update({ where: { id: old.id }, data: { createdAt } });
    expect((await rules({ key_max_age_seconds: 86_400 })).status).toBe(200);
    const { body } = await owner.call<{ api_keys: Key[] }>('GET', KEYS, { headers: from(OFFICE) });
    const shown = body.api_keys.find(({ id }) => id === ci.id);
    const seconds = (Date.parse(shown?.expires_at ?? '') - Date.now()) / 1_000;
    expect(seconds).toBeGreaterThan(86_000);
    expect(seconds).toBeLessThanOrEqual(86_400);
    await eventually('a key that is older to be refused', async () => (await statusFrom(OFFICE, old.key)) === 401);
    const refused = await eventually(
      'its people to read of it',
      async () => (await entries('?action=api_key.refuse'))[0],
    );
    expect(refused).toMatchObject({ actor: 'unauthenticated', address: OFFICE });
  });

  it('sees when each of its keys was used last', async () => {
    const ci = await make({ name: 'ci' });
    expect(await statusFrom(OFFICE, ci.key)).toBe(200);
    await eventually('its last use to be noted', async () => {
      const listed = await owner.call<{ api_keys: Key[] }>('GET', KEYS, { headers: from(OFFICE) });
      return listed.body.api_keys.find(({ id }) => id === ci.id)?.last_used_at ?? null;
    });
  });
});

describe('the log of an account', () => {
  it('has what its keys, operators and strangers did, and names no operator', async () => {
    await make({ name: 'of a program' });
    await stack.admin('POST', `/accounts/${account.id}/credits`, { amount_micros: 1_000_000, reason: 'a ticket' });
    const log = await entries();
    expect(log.map(({ action }) => action)).toEqual(expect.arrayContaining(['account.create', 'api_key.create']));
    const byOperators = log.filter(({ actor }) => actor === 'operator');
    expect(byOperators.length).toBeGreaterThan(0);
    expect(byOperators.every(({ address }) => address === null)).toBe(true);
    expect(JSON.stringify(log)).not.toContain('"admin"');
    const other = await stack.createAccount();
    const theirs = await new ApiClient(stack.publicUrl, other.apiKey).call('GET', '/platform/v1/audit');
    expect(theirs.text).not.toContain(account.id);
  });

  it.each(['ndjson', 'csv'] as const)('is exported as %s on the command line, whole', async (format) => {
    await make({ name: '=cmd()' });
    const path = join(folder.path, `audit.${format}`);
    const env = { PATH: process.env.PATH, HOME: folder.path, MILLRACE_URL: stack.publicUrl };
    await run(process.execPath, [CLI, 'audit', 'export', '--format', format, '--out', path], {
      env: { ...env, MILLRACE_API_KEY: account.apiKey },
    });
    const lines = (await readFile(path, 'utf8')).trimEnd().split(/\r?\n/);
    const acts = format === 'csv' ? lines.slice(1) : lines;
    expect(acts.length).toBeGreaterThanOrEqual((await entries()).length);
    expect(acts.join('\n')).toContain('api_key.create');
    if (format === 'csv') expect(acts.join('\n')).not.toMatch(/(^|,)"?=cmd/m);
    else expect(JSON.parse(acts[0] ?? '')).toMatchObject({ action: 'account.create' });
  });

  it('is for keys that manage keys alone', async () => {
    const { key } = await make({ name: 'reads', scopes: ['jobs:read'] });
    const { status, text } = await new ApiClient(stack.publicUrl, key).call('GET', '/platform/v1/audit');
    expect([status, text]).toEqual([403, expect.stringContaining('keys:admin') as string]);
  });
});
