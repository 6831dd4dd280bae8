import { Refusal, SCOPES, type JobMetadata, type Scope } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import { Turns } from '@millrace/platform';
import { noAccount } from './accounts.service';
import type { AccountStore } from './account.store';
import type { ApiKeyMint } from './api-key-mint';
import { apiKeyState, type ApiKeyRecord } from './api-key-record';
import type { ApiKeyStore } from './api-key.store';
import type { Act, AuditLog, Operator } from './audit-log';
import { subKeyScopes } from './key-labels';
import { networksOf } from './address-lists';
import { endedKey } from './owner-rights';
import {
  askedExpiryOf,
  assertGrantsAddresses,
  assertManages,
  beyondCap,
  earlier,
  endOf,
  expiryUnder,
  expiryWithin,
  grantedScopes,
  parentOfNew,
  parentOfSuccessor,
  spendsFor,
  spendsForBeyond,
  type KeyCaps,
  type KeyExpiry,
  type KeyIssuer,
} from './key-parent';

/** Live keys that one account may have: more are not managed by people, and each takes a place in the caches. */
const KEYS_PER_ACCOUNT = 100;
/** Live sub-keys that one account may have beside them: programs make those, one for each end user. */
const SUB_KEYS_PER_ACCOUNT = 10_000;
/** And with those that overlap with their successors: rotating is possible with as many keys as there may be, but not without end. */
const WHILE_ROTATING = 2;
/** Sub-keys that a list shows, the latest, and ended keys, the last to end: an account may end as many as it likes. */
const KEYS_LISTED = 1_000;
/** Of one account: a list may read some ten thousand keys. */
const LISTS_AT_A_TIME = 1;

/** A key just made. */
export interface IssuedApiKey extends ApiKeyRecord {
  /** The key itself: shown now and never again. */
  key: string;
}

/** The fields of a new key. */
export interface KeyWish {
  name: string;
  /** Default: all that the issuer may grant. */
  scopes?: readonly Scope[] | undefined;
  /** Makes it a sub-key, whose jobs carry them. Null: no sub-key. */
  labels?: JobMetadata | null | undefined;
  /** Networks from which it may be used. Default: as the key that makes it. */
  allowedAddresses?: readonly string[] | undefined;
  /** Default: with the key that makes it, else never. */
  expiresAt?: Date | null | undefined;
}

/** An operator of the service may grant everything. */
export function issuerOf(operator: Operator): KeyIssuer {
  return { ...operator, grantable: new Set(SCOPES), keyId: null };
}

/** The keys of accounts. Every act is in the audit log. */
export class ApiKeysService {
  private readonly turns = new Turns(LISTS_AT_A_TIME, 'lists of keys');

  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly keys: ApiKeyStore,
    private readonly audit: AuditLog,
    private readonly mint: ApiKeyMint,
    private readonly keyEnvironment: string,
    private readonly invitations: {
      deleteOfKeys(tx: Statements, accountId: string, keys: string[]): Promise<string[]>;
    },
    private readonly caps: KeyCaps,
    /** Called after a change of keys has committed: what this process has cached of them may be wrong now. */
    private readonly onChange: () => void,
  ) {}

  /**
   * The account's keys, newest first: all that work, of sub-keys the latest 1,000, and the 1,000 that ended last.
   *
   * @param labels where there are any, only the sub-keys that carry all of them, of those that ended among the last 10,000.
   * @throws Refusal `rate_limited`.
   */
  async list(accountId: string, labels: JobMetadata = {}): Promise<ApiKeyRecord[]> {
    return this.turns.run(accountId, () => this.keys.list(this.database, accountId, labels, KEYS_LISTED));
  }

  /** What these keys may do now; without those that let nobody in: expired, revoked, or of a suspended account. */
  async rightsOf(ids: readonly string[]): Promise<Map<string, ReadonlySet<Scope>>> {
    return ids.length === 0 ? new Map() : this.keys.rightsOf(this.database, ids);
  }

  /**
   * Make a key. A key that is made by another has that, or of a sub-key its latest successor, as its parent, and ends with it.
   *
   * @throws Refusal `not_found` when there is no such account, `forbidden` for a scope or a network that the issuer has not,
   * `invalid_request` when the account has as many live keys as it may or the key would outlive its parent, `unauthorized`
   * when the issuing key has just ended.
   */
  async issue(issuer: KeyIssuer, accountId: string, wish: KeyWish): Promise<IssuedApiKey> {
    const { labels = null } = wish;
    const asked =
      labels === null ? (wish.scopes ?? [...issuer.grantable]) : subKeyScopes(wish.scopes, issuer.grantable);
    const scopes = grantedScopes(issuer, asked);
    networksOf(wish.allowedAddresses ?? []);
    const { key, hash, lastFour } = this.mint.make(this.keyEnvironment);
    return this.audit.record(issuer, async (tx, note) => {
      if (!(await this.accounts.lock(tx, accountId))) throw noAccount(accountId);
      await this.assertRoom(tx, accountId, labels);
      const acting = await this.issuingKey(tx, accountId, issuer);
      const parent = await parentOfNew(tx, this.keys, acting, labels);
      const expiry = await this.expiryOf(tx, accountId, expiryUnder(parent, wish.expiresAt));
      const allowedAddresses = [...(wish.allowedAddresses ?? acting?.allowedAddresses ?? [])];
      assertGrantsAddresses(acting, allowedAddresses);
      const memberId = acting?.memberId ?? null;
      const facts = {
        name: wish.name,
        scopes,
        labels,
        allowedAddresses,
        memberId,
        parentId: parent?.id ?? null,
        spendsFor: spendsFor(acting, issuer),
        ...expiry,
      };
      const made = await this.keys.create(tx, { accountId, hash, lastFour, ...facts });
      const shown = { ...(labels !== null && { labels }), ...(allowedAddresses.length > 0 && { allowedAddresses }) };
      const details = { name: made.name, scopes, expiresAt: isoOf(made.expiresAt), ...shown };
      note({ ...actOn(made, 'api_key.create'), details });
      return { ...made, key };
    });
  }

  /**
   * Replace a key: a new one of the same name, scopes, labels and expiry, while the old one goes on for `overlapSeconds`. The keys that
   * it made go on with the new one, which has the parent that `parentOfSuccessor` says.
   *
   * @throws Refusal `not_found`, `forbidden` when it is another and has a scope or a network that the issuer has not, the issuer descends from it, or
   * a spend cap limits the issuer and not the key,
   * `invalid_request` when it was rotated before, no longer works, made keys that would outlive the new one, or the account has too many keys
   * that overlap, `unauthorized` when the issuing key has just ended.
   */
  async rotate(issuer: KeyIssuer, accountId: string, id: string, overlapSeconds: number): Promise<IssuedApiKey> {
    const { key, hash, lastFour } = this.mint.make(this.keyEnvironment);
    const rotated = await this.audit.record(issuer, async (tx, note) => {
      const old = await this.lock(tx, accountId, id);
      assertManages(issuer, old);
      assertRotatable(old);
      if (overlapSeconds > 0) await this.assertRoom(tx, accountId, old.labels, WHILE_ROTATING);
      const { name, scopes, labels, allowedAddresses } = old;
      const acting = await this.issuingKey(tx, accountId, issuer);
      await this.assertWithinCaps(tx, acting, issuer, old);
      const parent = await parentOfSuccessor(tx, this.keys, acting, old);
      const asked = earlier(askedExpiryOf(old), parent && endOf(parent));
      await this.assertOutlivesMade(tx, old, asked);
      const expiry = await this.expiryOf(tx, accountId, asked);
      // Who sees a key is who has it: it ends with them.
      const memberId = acting?.memberId ?? old.memberId;
      const facts = {
        name,
        scopes,
        labels,
        allowedAddresses,
        memberId,
        parentId: parent?.id ?? null,
        spendsFor: [],
        ...expiry,
      };
      const made = await this.keys.create(tx, { accountId, hash, lastFour, ...facts });
      await this.keys.supersede(tx, accountId, id, made.id, overlapSeconds);
      note({ ...actOn(old, 'api_key.rotate'), details: { successor: made.id, overlapSeconds } });
      return { ...made, key };
    });
    this.onChange();
    return rotated;
  }

  /**
   * End a key now, also during its overlap, all keys that it made, and the invitations that they sent. Ending an ended key changes nothing.
   *
   * @throws Refusal `not_found`, `forbidden` when it has a scope that the issuer has not.
   */
  async revoke(issuer: KeyIssuer, accountId: string, id: string): Promise<void> {
    await this.audit.record(issuer, async (tx, note) => {
      const old = await this.lock(tx, accountId, id);
      assertManages(issuer, old);
      const ended = await this.keys.revoke(tx, accountId, id);
      const children = ended.filter((other) => other !== id);
      const invitations = await this.invitations.deleteOfKeys(tx, accountId, [id, ...children]);
      const details = { name: old.name, wasLive: ended.includes(id), children, invitations };
      note({ ...actOn(old, 'api_key.revoke'), details });
    });
    this.onChange();
  }

  /** The account's row is held, so that no other request counts meanwhile. @throws Refusal `invalid_request`. */
  private async assertRoom(tx: Statements, accountId: string, labels: JobMetadata | null, times = 1): Promise<void> {
    const subKeys = labels !== null;
    const limit = times * (subKeys ? SUB_KEYS_PER_ACCOUNT : KEYS_PER_ACCOUNT);
    if ((await this.keys.countLive(tx, accountId, { subKeys }, limit)) >= limit) throw tooManyKeys(limit, subKeys);
  }

  private async expiryOf(tx: Statements, accountId: string, asked: Date | null): Promise<KeyExpiry> {
    return expiryWithin(asked, await this.keys.maxAgeSeconds(tx, accountId), new Date());
  }

  /** A key of the account. All keys of the account are held, so that none is made by one that is being revoked. */
  private async lock(tx: Statements, accountId: string, id: string): Promise<ApiKeyRecord> {
    const found = (await this.accounts.lock(tx, accountId)) ? await this.keys.lock(tx, accountId, id) : null;
    if (found === null || found.isSessionKey) throw noKey(id);
    return found;
  }

  /** The key that acts, null for an operator. @throws Refusal `unauthorized` when it has ended since it was checked. */
  private async issuingKey(tx: Statements, accountId: string, { keyId }: KeyIssuer): Promise<ApiKeyRecord | null> {
    return keyId === null ? null : assertLive(await this.keys.lock(tx, accountId, keyId));
  }

  /** Who gets the successor of a key spends as that key did. @throws Refusal `forbidden` where that is beyond a cap of the acting key. */
  private async assertWithinCaps(
    tx: Statements,
    acting: ApiKeyRecord | null,
    issuer: KeyIssuer,
    old: ApiKeyRecord,
  ): Promise<void> {
    const others = spendsForBeyond(acting, issuer, old);
    if (others.length > 0 && (await this.caps.limitsAny(tx, old.accountId, others))) throw beyondCap(old.id);
  }

  /**
   * What a key made goes on with its successor, and ends with that at the latest. A successor that ends sooner would have to end what
   * others use.
   *
   * @param end of the successor; null: never.
   * @throws Refusal `invalid_request`.
   */
  private async assertOutlivesMade(tx: Statements, old: ApiKeyRecord, end: Date | null): Promise<void> {
    const oldEnd = askedExpiryOf(old);
    const isShortened = end !== null && (oldEnd === null || end < oldEnd);
    if (isShortened && (await this.keys.madeOneThatEndsAfter(tx, old.accountId, old.id, end))) throw endsTooSoon(end);
  }
}

/** @throws Refusal `unauthorized` for a key that has ended. */
export function assertLive(key: ApiKeyRecord | null): ApiKeyRecord {
  if (key !== null && apiKeyState(key, new Date()) === 'live') return key;
  throw endedKey();
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

export function noKey(id: string): Refusal {
  return new Refusal('not_found', `There is no API key ${id} of this account.`);
}

function tooManyKeys(limit: number, subKeys: boolean): Refusal {
  const what = subKeys ? 'live API keys with labels' : 'live API keys';
  const message = `This account has ${limit} ${what}, which is the limit; revoke one first.`;
  return new Refusal('invalid_request', message);
}

function endsTooSoon(end: Date): Refusal {
  const message =
    `With your key the new one would end at ${end.toISOString()}, before keys that this one made. ` +
    'Rotate it with itself, in the console, or with a key that ends later; or revoke those keys first.';
  return new Refusal('invalid_request', message);
}
