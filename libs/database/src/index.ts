export { Database, type Statements } from './database';
export { databaseSettings, type DatabaseSettings } from './database.settings';
export { BOOT_TIMEOUT_MS, retryWhileStarting } from './boot-retry';
export { ConstraintError, RefusedError, isUnstorableText } from './errors';
export { decodeCursor, encodeCursor, pageOf, type Page } from './cursor';
export {
  KEY_REUSED,
  claimKey,
  claimKeyPart,
  claimKeysPart,
  forgetKeys,
  forgetKeysOf,
  isKeyClaimed,
  subjectOfKey,
  sweepKeys,
  whichAreClaimed,
} from './idempotency-key.store';
export { GroupedReads } from './grouped-reads';
export { LOOKED_AT, byId, lookedAt, pageOfLookedAt, type IdSpan, type LookedAtRow, type RowOwner } from './looked-at';
export { MeasureTransactionsLoop } from './measure-transactions.loop';
export { relaxedCommit } from './relaxed-commit';
export { repeatBriefly } from './repeat-briefly';
export { UNDONE_TRIES, repeatUndone } from './repeat-undone';
export { storable } from './storable';
export { assertSchema, awaitSchema } from './schema-version';
export { besideTransaction } from './nested-connection';
export { isLockTimeout, isStatementTimeout, isTransient, isUndone } from './transient';
export { composeStatement, statementPart, type StatementPart } from './statement-part';
