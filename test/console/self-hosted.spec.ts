import type { Scope } from '@millrace/contracts';
import { isOpen, leavesNothing } from '../../apps/console/src/shell/access';

const scopes: Scope[] = ['jobs:read'];

it('a place is open to a session with its scope, and one of members only where there are keys', () => {
  expect(isOpen({}, { id: null, scopes })).toBe(true);
  expect(isOpen({ scope: 'jobs:read' }, { id: null, scopes })).toBe(true);
  expect(isOpen({ scope: 'keys:admin' }, { id: 'k1', scopes })).toBe(false);
  expect(isOpen({ keyed: true }, { id: 'k1', scopes })).toBe(true);
  expect(isOpen({ keyed: true }, { id: null, scopes })).toBe(false);
});

it('a link asks nothing of who is in its account already, where there are no keys that could differ', () => {
  const session = (keyId: string | null): Parameters<typeof leavesNothing>[0] => ({
    account: { id: 'a' },
    key: { id: keyId },
  });
  expect(leavesNothing(session(null), { account: { id: 'a' } })).toBe(true);
  expect(leavesNothing(session(null), { account: { id: 'b' } })).toBe(false);
  expect(leavesNothing(session('k1'), { account: { id: 'a' } })).toBe(false);
  expect(leavesNothing(null, { account: { id: 'a' } })).toBe(false);
  expect(leavesNothing(session(null), undefined)).toBe(false);
});
