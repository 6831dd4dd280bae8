export { Database, type Statements } from './database';
export { databaseSettings, type DatabaseSettings } from './database.settings';
export { BOOT_PATIENCE_MS, patiently } from './patience';
export { ConstraintError, RefusedError, isTransient } from './errors';
export { composeStatement, type NamedQuery } from './compose';
export { decodeCursor, encodeCursor, pageOf, type Page } from './cursor';
export { KEY_REUSED, claimKeySql, isKeyClaimed, sweepKeys, type KeyClaim } from './idempotency-key.store';
export { REQUIRED_MIGRATION, assertSchema, awaitSchema } from './schema-version';
