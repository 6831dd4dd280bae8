import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const CLIENT = 'libs/webhooks/src/receivers/receiver-client.ts';
const RECEIVERS = ['libs/webhooks/src/receivers/receiver-guard.spec'];
const DELIVERY = ['libs/webhooks/src/delivery/delivery.int-spec'];

/** Of what is sent to accounts' servers. @type {Guard[]} */
export const WEBHOOK_GUARDS = [
  of(
    'the address of a receiver that was reached counts',
    CLIENT,
    'if (this.guard.admits(reached, scheme)) return',
    'return',
    RECEIVERS,
  ),
  of(
    'an address that DNS answers is checked',
    CLIENT,
    'if (refused !== undefined) callback',
    'if (false) callback',
    RECEIVERS,
  ),
  of(
    'the result of an attempt counts while no later one has begun',
    'libs/webhooks/src/messages/outcome.store.ts',
    'AND m.attempt = ${attempt} AND',
    'AND ${attempt}::int > 0 AND',
    DELIVERY,
  ),
  of(
    'nothing is sent to a disabled endpoint',
    'libs/webhooks/src/messages/claim.store.ts',
    'AND e.disabled_at IS NULL AND e.deleted_at IS NULL',
    'AND e.deleted_at IS NULL',
    DELIVERY,
  ),
];
