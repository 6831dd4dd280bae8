import type { MailNotice } from '@millrace/mail';
import type { DisabledEndpoint } from '../messages';

/** What people read of an endpoint that gets nothing any more. Of its URL the host: the rest may be a secret of its receiver. */
export function disabledNotice({ id, url, reason, failingSince }: DisabledEndpoint): MailNotice {
  const why =
    reason === 'gone'
      ? 'It answered 410, which says that it is no longer there.'
      : `No message reached it since ${failingSince.toISOString()}.`;
  return {
    subject: 'A webhook endpoint was disabled',
    lines: [
      `The webhook endpoint ${id} at ${new URL(url).host} gets no more messages. ${why}`,
      '',
      'What happens meanwhile is kept for it, as long as messages are kept, and sent when it is enabled again: on the page Webhooks of the',
      `console, or with "millrace webhooks enable ${id}".`,
    ],
  };
}
