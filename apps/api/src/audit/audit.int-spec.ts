import { lowestIdAt, newId } from '@millrace/contracts';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Entry {
  id: string;
  actor: string;
  action: string;
  subject_type: string;
  subject_id: string;
  address: string | null;
  reason: string | null;
  details: Record<string, unknown>;
}
interface Listed {
  entries: Entry[];
  next_cursor?: string;
}

const AUDIT = '/platform/v1/audit';

let api: RunningApi;
let account: TestAccount;
let other: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open();
});
beforeEach(async () => {
  [account, other] = await Promise.all([api.account(), api.account()]);
});
afterAll(() => api.close());

const list = async (query = '', { key }: { key: string } = account): Promise<Listed> =>
  (await api.client(key).call<Listed>('GET', `${AUDIT}${query}`)).body;
const exported = async (query = '', { key }: { key: string } = account): Promise<Response> =>
  fetch(`${api.publicUrl}${AUDIT}/export${query}`, { headers: { authorization: `Bearer ${key}` } });
const actions = ({ entries }: Listed): string[] => entries.map(({ action }) => action);

/** An entry as a service might have written it. @param entry its id has its time. */
async function plant(
  entry: { accountId: string | null; actor?: string; at?: Date } & Record<string, unknown>,
): Promise<string> {
  const id = entry.at === undefined ? newId() : lowestIdAt(entry.at.getTime());
  await api.test.database.models.auditEntry.create({
    data: { id, actor: 'admin', action: 'planted', subjectType: 'planted', subjectId: id, ...entry },
  });
  return id;
}

describe('the log of an account', () => {
  it('has what its keys did and what operators did to it, newest first, operators without name and address', async () => {
    const made = await api.client(account.key).call<{ id: string }>('POST', '/platform/v1/api-keys', {
      json: { name: 'of a program', scopes: ['jobs:read'] },
    });
    await api.operator().call('PATCH', `/admin/v1/accounts/${account.id}`, {
      json: { plan: 'large' },
      headers: { 'Millrace-Reason': 'Ticket%204711' },
    });
    const { entries } = await list();
    expect(entries.slice(0, 2)).toMatchObject([
      {
        actor: 'operator',
        action: 'account.update',
        subject_id: account.id,
        address: null,
        reason: 'Ticket 4711',
        details: { plan: 'large' },
      },
      { actor: `api_key:${account.keyId}`, action: 'api_key.create', subject_id: made.body.id, reason: null },
    ]);
    expect(entries[1]?.address).toMatch(/127\.0\.0\.1/);
    expect(new Set(actions({ entries }))).toContain('account.create');
  });

  it('shows of an actor that it does not know that it is an operator, and no more', async () => {
    for (const actor of ['admin', 'token:night', 'operator:ada@example.com', 'api_key', 'stripes', 'something new'])
      await plant({ accountId: account.id, actor, address: '10.0.0.7' });
    for (const actor of ['stripe', 'sign_in_link', 'invitation', 'self_hosted', `member:${newId()}`])
      await plant({ accountId: account.id, actor, address: '203.0.113.7' });
    const { entries } = await list('?action=planted');
    expect(entries.filter(({ actor }) => actor === 'operator').map(({ address }) => address)).toEqual(
      Array.from({ length: 6 }, () => null),
    );
    expect(entries.filter(({ address }) => address === '203.0.113.7')).toHaveLength(5);
    for (const text of [JSON.stringify(entries), await (await exported()).text()])
      expect(text).not.toMatch(/ada@|night|10\.0\.0\.7|stripes|something/);
  });

  it('and of an erasure that an operator asked for: by list, by id and in the archive', async () => {
    const id = newId();
    const asked = { id, accountId: account.id, subject: 'label', label: 'user', value: 'ada', pseudonym: 'erased-1' };
    await api.test.database.models.erasure.create({ data: { ...asked, requestedBy: 'operator:ada@example.com' } });
    const own = await api
      .client(account.key)
      .call<{ id: string; requested_by: string }>('POST', '/platform/v1/erasures', {
        json: { subject: 'label', label: 'user', value: 'bob' },
      });
    expect(own.body.requested_by).toBe(`api_key:${account.keyId}`);
    const read = (path: string) => api.client(account.key).call<{ requested_by: string }>('GET', path);
    expect((await read(`/platform/v1/erasures/${id}`)).body.requested_by).toBe('operator');
    const archive = await read('/platform/v1/account/export');
    const listed = await read('/platform/v1/erasures');
    for (const text of [archive.text, listed.text]) {
      expect(text).toContain(id);
      expect(text).toContain(`api_key:${account.keyId}`);
      expect(text).not.toContain('ada@example');
    }
    const { body } = await api.operator().call<{ requested_by: string }>('GET', `/admin/v1/erasures/${id}`);
    expect(body.requested_by).toBe('operator:ada@example.com');
  });

  it("has nothing of another account's, nor of none, in the list, by any filter, and in the export", async () => {
    const hidden = [await plant({ accountId: other.id }), await plant({ accountId: null })];
    for (const query of [
      '',
      '?action=planted',
      `?subject_id=${hidden[0]}`,
      `?subject_id=${other.id}`,
      '?actor=operator',
    ]) {
      const text = JSON.stringify(await list(query)) + (await (await exported(query)).text());
      for (const id of [...hidden, other.id, other.keyId]) expect(text).not.toContain(id);
    }
    expect((await list(`?subject_id=${hidden[0]}`, other)).entries).toHaveLength(1);
  });

  it('is filtered by actor, action, subject and time', async () => {
    const member = newId();
    const id = await plant({
      accountId: account.id,
      actor: `member:${member}`,
      action: 'label_rule.put',
      at: new Date('2026-03-14T12:00:00Z'),
    });
    for (const query of [
      `actor=member:${member}`,
      'action=label_rule.put',
      `subject_id=${id}`,
      'to=2026-03-15',
      'from=2026-03-14T12:00:00Z&to=2026-03-14T12:00:01Z',
    ])
      expect([query, (await list(`?${query}`)).entries.map((entry) => entry.id)]).toEqual([query, [id]]);
    expect((await list('?from=2026-03-14T12:00:00.001Z&to=2026-03-15')).entries).toEqual([]);
    expect((await list('?actor=admin')).entries).toEqual([]);
    expect(actions(await list('?actor=operator'))).toContain('account.create');
    expect((await api.client(account.key).call('GET', `${AUDIT}?from=yesterday`)).status).toBe(400);
  });

  it('comes in pages that have each entry once', async () => {
    const all = (await list('?limit=100')).entries.map(({ id }) => id);
    const seen: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: Listed = await list(`?limit=1${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.entries.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(all);
    expect(seen.length).toBeGreaterThan(2);
    expect((await api.client(account.key).call('GET', `${AUDIT}?cursor=made-up`)).status).toBe(400);
  });

  it('is for keys that manage keys alone, and no sub-key', async () => {
    const narrow = await api.key(account.id, ['jobs:read', 'usage:read']);
    const sub = await api
      .client(account.key)
      .call<{ key: string }>('POST', '/platform/v1/api-keys', { json: { name: 'sub', labels: { user: 'ada' } } });
    for (const key of [narrow.key, sub.body.key])
      for (const path of [AUDIT, `${AUDIT}/export`]) expect((await api.client(key).call('GET', path)).status).toBe(403);
  });
});

describe('an export of the log', () => {
  it('has every entry once, oldest first, more of them than are read at a time', async () => {
    await api.test.database.models.auditEntry.createMany({
      data: Array.from({ length: 1_203 }, (_, at) => ({
        id: newId(),
        accountId: account.id,
        actor: 'admin',
        action: 'planted',
        subjectType: 'planted',
        subjectId: String(at),
      })),
    });
    const answer = await exported('?action=planted');
    expect(answer.headers.get('content-type')).toMatch(/^application\/x-ndjson/);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="audit-log.ndjson"');
    const lines = (await answer.text()).trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Entry);
    expect(entries.map(({ subject_id: at }) => Number(at))).toEqual(Array.from({ length: 1_203 }, (_, at) => at));
    expect(entries.at(-1)).toEqual((await list('?action=planted&limit=1')).entries[0]);
  });

  it('as CSV has a header, and no cell that a spreadsheet runs as a formula', async () => {
    const id = await plant({
      accountId: account.id,
      subjectId: '=HYPERLINK("http://evil")',
      reason: '+1, "quoted"\r\n@x',
      details: { name: '=1' },
    });
    const answer = await exported('?format=csv&action=planted');
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const text = await answer.text();
    const [header] = text.split('\r\n');
    expect(header).toBe('id,at,actor,action,subject_type,subject_id,address,reason,details');
    expect(text).toContain(`${id},`);
    expect(text).toContain(
      `,operator,planted,planted,"'=HYPERLINK(""http://evil"")",,"'+1, ""quoted""\r\n@x","{""name"":""=1""}"\r\n`,
    );
  });

  it('of nothing is an empty file, and a header', async () => {
    expect(await (await exported('?action=none')).text()).toBe('');
    expect(await (await exported('?action=none&format=csv')).text()).toMatch(/^id,at,.*details\r\n$/);
  });

  it('is in the log itself, once an hour', async () => {
    await exported();
    await exported('?format=csv');
    expect((await list('?action=audit_log.export')).entries).toMatchObject([{ actor: `api_key:${account.keyId}` }]);
  });

  it('is refused in a format that there is not', async () => {
    expect((await exported('?format=xml')).status).toBe(400);
  });
});
