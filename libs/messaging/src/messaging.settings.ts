import { z } from 'zod';
import { secretSetting, sharedSetting } from '@millrace/platform';

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
    'Base64 of 32 random bytes, the same for api and worker: seals forwarded credentials and signs content links.',
    z
      .base64()
      .transform((text) => Buffer.from(text, 'base64'))
      .refine((key) => key.length === 32, 'must be the base64 of 32 bytes'),
  ),
};
