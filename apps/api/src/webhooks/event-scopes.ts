import type { Caller } from '@millrace/accounts';
import { Refusal, WEBHOOK_EVENTS, WEBHOOK_EVENT_SCOPES, type Scope, type WebhookEvent } from '@millrace/contracts';

/** Events of which the caller may not read elsewhere what they have. */
export function hiddenEvents({ scopes }: Pick<Caller, 'scopes'>): WebhookEvent[] {
  return WEBHOOK_EVENTS.filter((event) => !scopes.has(WEBHOOK_EVENT_SCOPES[event]));
}

/**
 * Let a caller through who may read what these events have.
 *
 * @param events those that are sent to a server of its choice, or again.
 * @throws Refusal 403 `forbidden`, whose `details` name a scope that the key lacks and the events that take it.
 */
export function assertReadsEvents(caller: Pick<Caller, 'scopes'>, events: readonly string[]): void {
  const refused = hiddenEvents(caller).filter((event) => events.includes(event));
  const [first] = refused;
  if (first === undefined) return;
  const scope: Scope = WEBHOOK_EVENT_SCOPES[first];
  const taking = refused.filter((event) => WEBHOOK_EVENT_SCOPES[event] === scope);
  throw new Refusal(
    'forbidden',
    `This API key lacks the scope ${scope}, with which what these events have is read: ${taking.join(', ')}. Use a key that has it, or have ` +
      'other events sent.',
    { details: { scope, events: taking } },
  );
}
