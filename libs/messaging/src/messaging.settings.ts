import { z } from 'zod';
import { KeyRing, secretSetting, sharedSetting } from '@millrace/platform';

export const messagingSettings = {
  redisUrl: sharedSetting(
    'REDIS_URL',
    'Connection URL of one Redis (or Valkey) server, which must run with maxmemory-policy noeviction. Sentinel and Cluster are not supported.',
    z.url({
      protocol: /^rediss?$/,
      error: 'must be the redis:// or rediss:// URL of one server; Sentinel and Cluster are not supported',
    }),
    true,
  ),
};

export const secretKeySetting = {
  secretKey: secretSetting(
    'SECRET_KEY',
    'Keys that seal forwarded credentials and secrets of webhooks, and sign links, the same for api, worker, gateway and maintenance: the base64 of 32 random bytes, or several separated by commas, each with an id and a colon before it. The first seals and signs, all are accepted.',
    z.string().transform((text, context) => {
      const ring = KeyRing.parse(text);
      if (typeof ring !== 'string') return ring;
      context.addIssue(ring);
      return z.NEVER;
    }),
  ),
};
