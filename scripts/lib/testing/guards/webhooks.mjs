import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const AGENT = 'libs/platform/src/outbound/guarded-agent.ts';
const RECEIVERS = ['libs/webhooks/src/receivers/receiver-client.spec'];
const DELIVERY = ['libs/webhooks/src/delivery/delivery.int-spec'];

const LOW_CREDITS = ['libs/jobs/src/proofs/low-credits.int-spec'];
const DEPLOYMENT_EVENTS = ['libs/deployments/src/deployment-events.int-spec'];
const FLEET = ['libs/fleet/src/reconcile.int-spec'];
const EXPIRY = 'libs/accounts/src/expiry/expiring-key.store.ts';
const EXPIRIES = ['libs/accounts/src/expiry/expiring-keys.int-spec'];

/** Of what is sent to accounts' servers. @type {Guard[]} */
export const WEBHOOK_GUARDS = [
  of(
    'the address of a receiver that was reached counts',
    AGENT,
    'if (guard.admits(reached, scheme)) return',
    'return',
    RECEIVERS,
  ),
  of(
    'an address that DNS answers is checked',
    AGENT,
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
  of(
    'an endpoint is disabled once',
    'libs/webhooks/src/messages/outcome.store.ts',
    'AND e.disabled_at IS NULL AND ${changesStanding(outcome)}',
    'AND ${changesStanding(outcome)}',
    ['libs/webhooks/src/delivery/disabled-endpoints.int-spec'],
  ),
  of(
    'an attempt says nothing of an endpoint that has another URL since',
    'libs/webhooks/src/messages/outcome.store.ts',
    ' AND e.url = ${url}',
    ' AND ${url}::text IS NOT NULL',
    DELIVERY,
  ),
  of(
    'the secret of an endpoint is replaced by one at a time',
    'libs/webhooks/src/endpoints/endpoint.store.ts',
    ' FOR NO KEY UPDATE',
    '',
    ['libs/webhooks/src/delivery/message-log.int-spec'],
  ),
  without(
    'a balance that falls below the limit of its account is noted',
    'DROP TRIGGER balances_low_trigger ON balances',
    LOW_CREDITS,
  ),
  without('low credits are a message', 'DROP TRIGGER balances_low_event_trigger ON balances', LOW_CREDITS),
  of(
    'a run that outlasts its hold has its account warned',
    'libs/billing/src/ledger/hold.store.ts',
    'CASE WHEN x.available - x.amount < x.alert_below_micros THEN coalesce(x.alerted_at, now()) ELSE x.alerted_at END',
    'x.alerted_at',
    LOW_CREDITS,
  ),
  without(
    'a deployment that stops is a message',
    'DROP TRIGGER deployments_stopped_trigger ON deployments',
    DEPLOYMENT_EVENTS,
  ),
  without(
    'a deployment that is ready is a message',
    'DROP TRIGGER deployments_ready_trigger ON deployments',
    DEPLOYMENT_EVENTS,
  ),
  without(
    'a version that is ready is a message',
    'DROP TRIGGER deployment_versions_ready_trigger ON deployment_versions',
    DEPLOYMENT_EVENTS,
  ),
  without(
    'a deployment whose workers do not start is a message',
    'DROP TRIGGER fleet_groups_stuck_trigger ON fleet_groups',
    FLEET,
  ),
  without(
    'a deployment whose class is gone is a message',
    'DROP TRIGGER fleet_groups_stuck_first_trigger ON fleet_groups',
    FLEET,
  ),
  of(
    'a key is announced once',
    EXPIRY,
    '(k.expiry_notice_days IS NULL OR k.expiry_notice_days > n.days)',
    'true',
    EXPIRIES,
  ),
  of('a key that was rotated or revoked is not announced', EXPIRY, ' AND k.revoked_at IS NULL', '', EXPIRIES),
];
