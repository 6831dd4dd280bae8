import { Refusal, SCOPES, type Scope } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import { noAccount } from './accounts.service';
import type { AccountStore } from './account.store';
import { generateApiKey } from './api-key';
import { apiKeyState, type ApiKeyRecord } from './api-key-record';
import type { ApiKeyStore } from './api-key.store';
import type { Act, Operator } from './audit-log';
import type { AuditLog } from './audit-log.service';

/** Live keys that one account may have: more are not managed by people, and each takes a place in the caches. */
const KEYS_PER_ACCOUNT = 100;

/** A key just made. */
export interface IssuedApiKey extends ApiKeyRecord {
  /** The key itself: shown now and never again. */
  key: string;
}

/** The fields of a new key. */
export interface KeyWish {
  name: string;
  /** Default: all that the issuer may grant. */
  scopes?: readonly Scope[];
  expiresAt?: Date | null;
}

/** Who manages keys: a key can only get scopes that its issuer may grant. */
export interface KeyIssuer extends Operator {
  /** Scopes that may be granted. */
  grantable: ReadonlySet<Scope>;
}

/** An operator of the service may grant everything. */
export function issuerOf(operator: Operator): KeyIssuer {
  return { ...operator, grantable: new Set(SCOPES) };
}

/** The keys of accounts. Every act is in the audit log. */
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly keys: ApiKeyStore,
    private readonly audit: AuditLog,
    private readonly keyEnvironment: string,
    /** Called after a change of keys has committed: what this process has cached of them may be wrong now. */
    private readonly onChange: () => void,
  ) {}

  /** The account's keys, newest first, those that no longer work among them. */
  async list(accountId: string): Promise<ApiKeyRecord[]> {
    return this.keys.list(this.database, accountId);
  }

  /** Which of these keys no longer let anyone in: expired, revoked, or of a suspended account. */
  async findEnded(ids: readonly string[]): Promise<Set<string>> {
    return new Set(ids.length === 0 ? [] : await this.keys.findEnded(this.database, ids));
  }

  /**
   * Make a key.
   *
   * @throws Refusal `not_found` when there is no such account, `forbidden` for a scope that the issuer has not,
   * `invalid_request` when the account has as many live keys as it may.
   */
  async issue(issuer: KeyIssuer, accountId: string, wish: KeyWish): Promise<IssuedApiKey> {
    const scopes = grantedScopes(issuer, wish.scopes ?? [...issuer.grantable]);
    const { key, hash, lastFour } = generateApiKey(this.keyEnvironment);
    return this.audit.record(issuer, async (tx, note) => {
      if (!(await this.accounts.lock(tx, accountId))) throw noAccount(accountId);
      if ((await this.keys.countLive(tx, accountId)) >= KEYS_PER_ACCOUNT) throw tooManyKeys();
      const expiresAt = wish.expiresAt ?? null;
      const made = await this.keys.create(tx, { accountId, name: wish.name, hash, lastFour, scopes, expiresAt });
      note({ ...actOn(made, 'api_key.create'), details: { name: made.name, scopes, expiresAt: isoOf(expiresAt) } });
      return { ...made, key };
    });
  }

  /**
   * Replace a key: a new one of the same name, scopes and expiry, while the old one goes on for `overlapSeconds`.
   *
   * @throws Refusal `not_found`, `forbidden` when it has a scope that the issuer has not, `invalid_request` when it was
   * rotated before or no longer works.
   */
  async rotate(issuer: KeyIssuer, accountId: string, id: string, overlapSeconds: number): Promise<IssuedApiKey> {
    const { key, hash, lastFour } = generateApiKey(this.keyEnvironment);
    const rotated = await this.audit.record(issuer, async (tx, note) => {
      const old = await this.keys.lock(tx, accountId, id);
      if (old === null) throw noKey(id);
      grantedScopes(issuer, old.scopes);
      assertRotatable(old);
      const { name, scopes, expiresAt } = old;
      const made = await this.keys.create(tx, { accountId, name, hash, lastFour, scopes, expiresAt });
      await this.keys.supersede(tx, accountId, id, made.id, overlapSeconds);
      note({ ...actOn(old, 'api_key.rotate'), details: { successor: made.id, overlapSeconds } });
      return { ...made, key };
    });
    this.onChange();
    return rotated;
  }

  /**
   * End a key now, also during its overlap. Ending an ended key changes nothing.
   *
   * @throws Refusal `not_found`.
   */
  async revoke(operator: Operator, accountId: string, id: string): Promise<void> {
    await this.audit.record(operator, async (tx, note) => {
      const old = await this.keys.lock(tx, accountId, id);
      if (old === null) throw noKey(id);
      const changed = await this.keys.revoke(tx, accountId, id);
      note({ ...actOn(old, 'api_key.revoke'), details: { name: old.name, wasLive: changed } });
    });
    this.onChange();
  }
}

function grantedScopes(issuer: KeyIssuer, scopes: readonly Scope[]): Scope[] {
  const beyond = scopes.filter((scope) => !issuer.grantable.has(scope));
  if (beyond.length === 0) return [...new Set(scopes)];
  const named = beyond.join(', ');
  throw new Refusal('forbidden', `A key can grant only scopes that it has itself, and yours lacks ${named}.`);
}

function assertRotatable(old: ApiKeyRecord): void {
  if (old.rotatedTo !== null) {
    throw new Refusal('invalid_request', `This API key was already rotated; rotate its successor ${old.rotatedTo}.`);
  }
  const state = apiKeyState(old, new Date());
  if (state === 'live') return;
  throw new Refusal('invalid_request', `This API key is ${state}; create a new one instead of rotating it.`);
}

function actOn(key: ApiKeyRecord, action: string): Act {
  return { action, subjectType: 'api_key', subjectId: key.id, accountId: key.accountId };
}

function isoOf(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}

function noKey(id: string): Refusal {
  return new Refusal('not_found', `There is no API key ${id} of this account.`);
}

function tooManyKeys(): Refusal {
  const message = `This account has ${KEYS_PER_ACCOUNT} live API keys, which is the limit; revoke one first.`;
  return new Refusal('invalid_request', message);
}
