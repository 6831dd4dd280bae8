import type { MessageState } from '../api/webhooks';

export const STATE_LABELS: Record<MessageState, string> = {
  pending: 'Waiting',
  delivered: 'Delivered',
  failed: 'Given up',
};

/** The filter of the log, as it stands in the address. */
export interface WebhookSearch {
  state?: MessageState;
}

export const isMessageState = (text: unknown): text is MessageState =>
  typeof text === 'string' && Object.hasOwn(STATE_LABELS, text);

/** Read the search of an address that anyone may have typed. */
export function readWebhookSearch({ state }: Record<string, unknown>): WebhookSearch {
  return isMessageState(state) ? { state } : {};
}
