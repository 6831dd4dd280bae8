import { onOneDay } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi } from '../fixtures/running-api';

/** What a job of the test holds. */
const HOLD_MICROS = 600_000;
const KEYS = '/platform/v1/api-keys';
/** Manages keys and runs jobs; may not set caps. */
const DEVELOPER = ['keys:admin', 'jobs:write', 'jobs:read'];

interface Key {
  id: string;
  key: string;
}

let api: RunningApi;
let owner: string;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
beforeEach(() => onOneDay());
beforeEach(async () => {
  owner = (await api.account({ limits: { queue_limit: 1_000 } })).key;
});
afterAll(() => api.close());

async function answerOf<T>(by: string, method: 'GET' | 'POST' | 'PUT', path: string, json?: object): Promise<T> {
  const { status, body, text } = await api.client(by).call<T>(method, path, { json });
  if (status >= 300) throw new Error(text);
  return body;
}
const make = (by: string, json: object = { scopes: DEVELOPER }): Promise<Key> =>
  answerOf(by, 'POST', KEYS, { name: 'a key', ...json });
const rotate = (by: string, { id }: Key, overlapSeconds = 0): Promise<Key> =>
  answerOf(by, 'POST', `${KEYS}/${id}/rotate`, { overlap_seconds: overlapSeconds });
/** Of one job. */
const cap = (key: Key | null): Promise<{ id: string }> => {
  const limits = { daily_micros: HOLD_MICROS, daily_at_cap: 'stop' };
  return answerOf(owner, 'PUT', '/platform/v1/spend/caps', { scope: 'key', key_id: key?.id ?? null, ...limits });
};
const submit = async ({ key }: Pick<Key, 'key'>): Promise<number> =>
  (await api.client(key).call('POST', '/api/v2/jobs', { json: { workflow: GRAPH } })).status;

describe('the cap of a key', () => {
  it('is that of its successor, and is listed as that', async () => {
    const key = await make(owner);
    const { id } = await cap(key);
    expect([await submit(key), await submit(key)]).toEqual([201, 402]);
    const successor = await rotate(key.key, key);
    expect(await submit(successor)).toBe(402);
    const { spend_caps: caps } = await answerOf<{ spend_caps: object[] }>(owner, 'GET', '/platform/v1/spend');
    expect(caps).toEqual([expect.objectContaining({ id, key_id: successor.id, held_micros: HOLD_MICROS })]);
    expect(await cap(successor)).toMatchObject({ id });
  });

  it.each([
    ['the key that overlaps', (key: Key, _successor: Key) => key],
    ['the successor', (_key: Key, successor: Key) => successor],
  ])(
    'reaches a successor that another key got before it was set, and what that one made, where it names %s',
    async (_name, named) => {
      const [key, other] = [await make(owner), await make(owner)];
      const successor = await rotate(other.key, key, 3_600);
      const made = await make(successor.key);
      const next = await rotate(other.key, successor, 3_600);
      const { id } = await cap(named(key, successor));
      expect([await submit(next), await submit(key), await submit(successor), await submit(made)]).toEqual([
        201, 402, 402, 402,
      ]);
      expect(await submit(other)).toBe(201);
      const { spend_caps: caps } = await answerOf<{ spend_caps: object[] }>(owner, 'GET', '/platform/v1/spend');
      expect(caps).toEqual([expect.objectContaining({ id, key_id: next.id, held_micros: HOLD_MICROS })]);
    },
  );

  it('counts what a successor submitted that another key got before it was set', async () => {
    const [key, other] = [await make(owner), await make(owner)];
    const successor = await rotate(other.key, key, 3_600);
    expect(await submit(successor)).toBe(201);
    await cap(key);
    expect([await submit(key), await submit(successor)]).toEqual([402, 402]);
  });

  it('counts the keys that it makes, of whichever kind, and what those make', async () => {
    const key = await make(owner);
    const before = await make(key.key);
    await cap(key);
    expect(await submit(key)).toBe(201);
    const made = await make(key.key);
    const keys = [
      before,
      made,
      await make(made.key),
      await make(key.key, { labels: { user: 'ada' } }),
      await rotate(key.key, await make(key.key)),
    ];
    expect(await Promise.all(keys.map(submit))).toEqual(keys.map(() => 402));
  });

  it('leaves a key that somebody makes who may set caps an allowance of its own', async () => {
    await cap(null);
    const [one, other] = [await make(owner), await make(owner)];
    expect([await submit(one), await submit(one)]).toEqual([201, 402]);
    expect(await submit(other)).toBe(201);
    expect(await submit({ key: owner })).toBe(201);
  });

  it('says nothing of what its maker uses to the holder of a sub-key', async () => {
    const key = await make(owner);
    const ada = await make(key.key, { labels: { user: 'ada' } });
    await answerOf(owner, 'PUT', '/platform/v1/spend/caps', {
      scope: 'key',
      key_id: key.id,
      daily_micros: 2 * HOLD_MICROS,
    });
    const { headers } = await api.client(ada.key).call('POST', '/api/v2/jobs', { json: { workflow: GRAPH } });
    expect(headers['millrace-spend-warning']).toBeUndefined();
  });
});

describe('a key that may not set caps', () => {
  const rotation = async ({ key }: Key, { id }: Key): Promise<[number, string]> => {
    const { status, text } = await api
      .client(key)
      .call('POST', `${KEYS}/${id}/rotate`, { json: { overlap_seconds: 0 } });
    return [status, text];
  };
  const refused = [403, expect.stringMatching(/spend cap limits .*credits:write/)];

  it('replaces no key that is not under its cap, with which it would spend beyond it', async () => {
    const [key, other, capped] = [await make(owner), await make(owner), await make(owner)];
    await cap(key);
    await cap(capped);
    expect(await rotation(key, other)).toEqual(refused);
    expect(await rotation(key, capped)).toEqual(refused);
    const made = await make(key.key);
    expect(await rotation(made, other)).toEqual(refused);
    expect((await rotation(key, made))[0]).toBe(201);
  });

  it('replaces none under a cap of each key but those that count with it', async () => {
    const [key, other] = [await make(owner), await make(owner)];
    await cap(null);
    expect(await rotation(key, other)).toEqual(refused);
    expect((await rotation(key, await make(key.key)))[0]).toBe(201);
    expect((await rotation(key, key))[0]).toBe(201);
  });

  it('replaces any where no cap limits it, as does one that may set caps', async () => {
    const [key, other, another] = [await make(owner), await make(owner), await make(owner)];
    const setter = await make(owner, { scopes: [...DEVELOPER, 'credits:write'] });
    await cap(other);
    expect((await rotation(key, other))[0]).toBe(201);
    await cap(setter);
    expect((await rotation(setter, another))[0]).toBe(201);
  });
});

describe('a cap of each key', () => {
  it('is of a key with all its successors', async () => {
    await cap(null);
    let key = await make(owner);
    const statuses = [await submit(key)];
    for (let time = 0; time < 4; time += 1) {
      key = await rotate(key.key, key);
      statuses.push(await submit(key));
    }
    expect(statuses).toEqual([201, 402, 402, 402, 402]);
  });
});
