import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const TESTS = ['apps/api/src/accounts/access-rules.int-spec'];

/** Of allow-lists and the maximum age of keys. @type {Guard[]} */
export const ACCESS_GUARDS = [
  of(
    'a request by a key or a session is compared with the allow-lists',
    'apps/api/src/endpoints/callers/callers.ts',
    '    await this.gate.assertAllowed(caller, addressOf(request), networkOf(request));\n    return caller;',
    '    return caller;',
    TESTS,
  ),
  of(
    'signing in is compared with the allow-lists',
    'apps/api/src/sessions/sign-in.service.ts',
    'await this.gate.assertAllowed(caller, addressOf(request), networkOf(request));',
    '',
    TESTS,
  ),
  of(
    'a key gives away no network that it has not',
    'libs/accounts/src/key-parent.ts',
    'if (acting === null || isWithinList(allowed, acting.allowedAddresses)) return;',
    'if (acting !== undefined) return;',
    TESTS,
  ),
  of(
    'a maximum age that would end the acting key is refused',
    'libs/accounts/src/access/access-rules.service.ts',
    'if (keyId !== null && ended.includes(keyId)) throw tooOld();',
    '',
    TESTS,
  ),
  of(
    'a key that has ended stays so when the maximum age is taken back',
    'libs/accounts/src/access/access-rules.store.ts',
    'AND (k.expires_at IS NULL OR k.expires_at > now())',
    '',
    TESTS,
  ),
];
