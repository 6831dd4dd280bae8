export { AccountStore, type Account, type AccountChanges } from './account.store';
export { AccountsService, type IssuedApiKey, type Operator } from './accounts.service';
export { ApiKeyStore } from './api-key.store';
export { generateApiKey, hashApiKey, isWellFormedApiKey } from './api-key';
export { AuditLogStore, type AdministrativeAct } from './audit-log.store';
export { Authenticator, bearerOf } from './authenticator';
export { assertScope, type AccountLimits, type Caller } from './caller';
