import { z } from 'zod';
import { secretSetting, setting } from '@millrace/platform';

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/;

/** A token goes to nobody who listens on the way. */
function isSafe(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || LOOPBACK.test(hostname);
}

/** With these a worker reaches its pool through a gateway. */
export const remoteSettings = {
  gatewayUrl: setting(
    'GATEWAY_URL',
    'URL of the gateway through which a worker outside the cluster reaches its pool, e.g. https://gateway.example.com. Excludes DATABASE_URL, REDIS_URL, MILLRACE_SECRET_KEY and the settings of the store.',
    z
      .url({ protocol: /^https?$/, error: 'must be an https:// URL' })
      .refine(isSafe, 'must be an https:// URL; http:// is for the own machine alone')
      .transform((text) => text.replace(/\/+$/, '')),
  ),
  gatewayToken: secretSetting(
    'GATEWAY_TOKEN',
    'Worker token of the pool that the worker joins through MILLRACE_GATEWAY_URL; an operator makes it.',
    z.string().regex(/^mrw_[A-Za-z0-9_-]{43}$/, 'must be a worker token: mrw_ and 43 more characters'),
  ),
};
