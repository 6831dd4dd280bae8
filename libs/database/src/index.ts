export { Database, type Statements } from './database';
export { databaseSettings, type DatabaseSettings } from './database.settings';
export { BOOT_PATIENCE_MS, patiently } from './patience';
export { ConstraintError, RefusedError, isTransient } from './errors';
export { decodeCursor, encodeCursor, pageOf, type Page } from './cursor';
export { KEY_REUSED, claimKey, claimKeyPart, isKeyClaimed, sweepKeys, type KeyClaim } from './idempotency-key.store';
export { REQUIRED_MIGRATION, assertSchema, awaitSchema } from './schema-version';
export { composeStatement, statementPart, type StatementPart } from './statement-part';
