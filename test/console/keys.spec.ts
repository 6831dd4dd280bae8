import { limitStateOf, LIMITS } from '../../apps/console/src/account/limits';
import type { Account } from '../../apps/console/src/api/account';
import type { ApiKey } from '../../apps/console/src/api/api-keys';
import { descendantsOf, endOf } from '../../apps/console/src/keys/key-life';

function apiKey(id: string, facts: Partial<ApiKey> = {}): ApiKey {
  return {
    id,
    name: id,
    last_four: '0000',
    scopes: ['jobs:read'],
    status: 'live',
    created_at: '2030-01-01T00:00:00Z',
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    rotated_to: null,
    parent_id: null,
    labels: null,
    ...facts,
  };
}

it('a key ends at the earlier of its expiry and the end of its overlap', () => {
  const [early, late] = ['2030-02-01T00:00:00Z', '2030-03-01T00:00:00Z'];
  expect(endOf(apiKey('a'))).toBeNull();
  expect(endOf(apiKey('a', { expires_at: early }))).toBe(early);
  expect(endOf(apiKey('a', { expires_at: early, revoked_at: late }))).toBe(early);
  expect(endOf(apiKey('a', { expires_at: late, revoked_at: early }))).toBe(early);
});

it('with a key end the live keys that it made, and those that they made', () => {
  const keys = [
    apiKey('parent'),
    apiKey('child', { parent_id: 'parent' }),
    apiKey('ended', { parent_id: 'parent', status: 'revoked' }),
    apiKey('grandchild', { parent_id: 'child' }),
    apiKey('other'),
  ];
  expect(descendantsOf('parent', keys).map(({ id }) => id)).toEqual(['child', 'grandchild']);
  expect(descendantsOf('other', keys)).toEqual([]);
});

describe('a limit', () => {
  const most = Object.fromEntries(LIMITS.map(({ limit }) => [limit, 10]));
  const use = { running_jobs: 12, queued_jobs: 0, uploaded_bytes_today: 8, storage_bytes: 10, event_streams: 3 };
  const account = { limits: { ...most, upload_bytes_per_day: null }, use } as unknown as Account;
  const stateOf = (name: string): unknown =>
    LIMITS.filter(({ limit }) => limit === name).map((view) => limitStateOf(view, account))[0];

  it('says how much of it is in use, and when it is full', () => {
    expect(stateOf('event_streams')).toEqual({ text: '3 of 10', share: 0.3, tone: 'busy' });
    expect(stateOf('storage_bytes')).toEqual({ text: '10 B of 10 B', share: 1, tone: 'bad' });
  });

  it('of each pool is not full because all pools together use more', () => {
    expect(stateOf('running_jobs')).toEqual({ text: '12 of 10', share: 1.2, tone: 'busy' });
  });

  it('that nothing is counted for, or that is none, has no bar', () => {
    expect(stateOf('deployments')).toEqual({ text: '10', share: null, tone: 'busy' });
    expect(stateOf('upload_bytes_per_day')).toEqual({ text: '8 B, without a limit', share: null, tone: 'busy' });
  });
});
