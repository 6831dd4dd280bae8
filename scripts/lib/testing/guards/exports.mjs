import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const CLAIM = 'libs/billing/src/delivery/claim.store.ts';
const DELIVERY = ['libs/billing/src/delivery/export-delivery.int-spec'];

/** Of daily exports that are written to buckets of accounts. @type {Guard[]} */
export const EXPORT_GUARDS = [
  of(
    'a day that was written counts while no later attempt has begun',
    CLAIM,
    'AND v.attempt = ${attempt} AND',
    'AND ${attempt}::int > 0 AND',
    DELIVERY,
  ),
  of(
    'a day that was written counts while its destination is the same',
    CLAIM,
    'AND d.revision = ${revision}',
    'AND ${revision}::int > 0',
    DELIVERY,
  ),
  of(
    'a day that was given up is written to the next destination',
    CLAIM,
    "WHERE v.state = 'failed'\n",
    'WHERE false\n',
    DELIVERY,
  ),
  of(
    'a day that is written to the next destination does not count as written to the one before',
    CLAIM,
    "state = 'pending', attempt = v.attempt + 1, tries",
    "state = 'pending', tries",
    DELIVERY,
  ),
  of(
    'nothing is written to a disabled destination',
    CLAIM,
    'AND (d.disabled_at IS NULL OR v.day IS NULL)',
    '',
    DELIVERY,
  ),
  of(
    'a server that a customer names is checked as it is by the rules of today',
    'libs/assets/src/store/s3/named-buckets.ts',
    'if (fault !== null) return `The endpoint',
    'if (false) return `The endpoint',
    ['libs/assets/src/store/s3/named-buckets.int-spec'],
  ),
  without(
    'a destination that is disabled is a message',
    'DROP TRIGGER export_destinations_disabled_trigger ON export_destinations',
    DELIVERY,
  ),
];
