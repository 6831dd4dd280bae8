import { z } from 'zod';
import { integer, secretSetting, setting, sharedSetting, type SettingsOf } from '@millrace/platform';

export const databaseSettings = {
  databaseUrl: sharedSetting(
    'DATABASE_URL',
    'PostgreSQL connection URL.',
    z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' }),
    true,
  ),
  databaseDirectUrl: secretSetting(
    'DATABASE_DIRECT_URL',
    'Connection URL of PostgreSQL itself, where DATABASE_URL is that of a pooler: locks and migrations go past it. Required with the pooler mode `transaction`; default otherwise: DATABASE_URL.',
    z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' }).optional(),
  ),
  databasePoolerMode: setting(
    'DATABASE_POOLER_MODE',
    'How a pooler behind DATABASE_URL lends its connections: `session`, which is also right without a pooler, or `transaction`.',
    z.enum(['session', 'transaction']).default('session'),
  ),
  databasePoolSize: setting(
    'DATABASE_POOL_SIZE',
    'Connections to PostgreSQL that this process may hold.',
    integer({ min: 2, max: 500 }).default(10),
  ),
  databaseTimeoutMs: setting(
    'DATABASE_TIMEOUT_MS',
    'How long to wait for a connection, and for one statement, in milliseconds.',
    integer({ min: 100, max: 600_000 }).default(15_000),
  ),
};
export type DatabaseSettings = SettingsOf<typeof databaseSettings>;
export type PoolerMode = DatabaseSettings['databasePoolerMode'];
