import { z } from 'zod';
import { KeyRing, secretSetting, sharedSetting } from '@millrace/platform';

export const messagingSettings = {
  redisUrl: sharedSetting(
    'REDIS_URL',
    'Redis (or Valkey) connection URL; the server must run with maxmemory-policy noeviction.',
    z.url({ protocol: /^rediss?$/, error: 'must be a redis:// URL' }),
    true,
  ),
};

export const secretKeySetting = {
  secretKey: secretSetting(
    'SECRET_KEY',
    'Keys that seal forwarded credentials and sign links, the same for api and worker: the base64 of 32 random bytes, or several separated by commas, each with an id and a colon before it. The first seals and signs, all are accepted.',
    z.string().transform((text, context) => {
      const ring = KeyRing.parse(text);
      if (typeof ring !== 'string') return ring;
      context.addIssue(ring);
      return z.NEVER;
    }),
  ),
};
