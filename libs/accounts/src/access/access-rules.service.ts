import { Refusal } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import type { AccountStore } from '../account.store';
import { noAccount } from '../accounts.service';
import type { ApiKeyRecord } from '../api-key-record';
import type { ApiKeyStore } from '../api-key.store';
import { assertLive, noKey } from '../api-keys.service';
import type { AuditLog, Operator } from '../audit-log';
import { assertGrantsAddresses, assertManages, type KeyIssuer } from '../key-parent';
import type { OwnerRights } from '../owner-rights';
import type { AccessRules, AccessRulesStore } from './access-rules.store';
import { assertListsCaller, networksOf } from '../address-lists';

/** From where, and until which age, the keys of an account may be used. Every change is in the audit log. */
export class AccessRulesService {
  constructor(
    private readonly database: Database,
    private readonly rules: AccessRulesStore,
    private readonly accounts: AccountStore,
    private readonly keys: ApiKeyStore,
    private readonly audit: AuditLog,
    private readonly owners: Pick<OwnerRights, 'hold'>,
    /** Called after a change has committed: what this process has cached of keys may be wrong now. */
    private readonly onChange: () => void,
  ) {}

  /** @throws Refusal `not_found`. */
  async read(accountId: string): Promise<AccessRules> {
    const rules = await this.rules.find(this.database, accountId);
    if (rules === null) throw noAccount(accountId);
    return rules;
  }

  /**
   * Change the rules of an account; an absent field keeps its value. Keys past a new maximum age end at once.
   *
   * @param keyId the key that acts, which must go on and be an owner's; null for an operator, who may lock all out.
   * @throws Refusal `not_found`; `unauthorized` or `forbidden` for who is no owner now; `invalid_request` for an entry that is no network, and for rules that would lock out who sets them.
   */
  async change(
    { keyId, ...operator }: Operator & { keyId: string | null },
    accountId: string,
    changes: Partial<AccessRules>,
  ): Promise<AccessRules> {
    const { allowedAddresses } = changes;
    if (allowedAddresses !== undefined) networksOf(allowedAddresses);
    const changed = await this.audit.record(operator, async (tx, note) => {
      if (keyId !== null) await this.owners.hold(tx, accountId, { keyId });
      if (keyId !== null && allowedAddresses !== undefined) assertListsCaller(allowedAddresses, operator.address);
      const isOpen = await this.accounts.lock(tx, accountId);
      const old = isOpen ? await this.rules.find(tx, accountId) : null;
      if (old === null) throw noAccount(accountId);
      const rules = {
        allowedAddresses: allowedAddresses ?? old.allowedAddresses,
        keyMaxAgeSeconds: changes.keyMaxAgeSeconds === undefined ? old.keyMaxAgeSeconds : changes.keyMaxAgeSeconds,
      };
      await this.rules.write(tx, accountId, rules);
      const isSame = rules.keyMaxAgeSeconds === old.keyMaxAgeSeconds;
      const ended = isSame ? [] : await this.rules.applyMaxAge(tx, accountId, rules.keyMaxAgeSeconds);
      if (keyId !== null && ended.includes(keyId)) throw tooOld();
      const act = { action: 'account.access', subjectType: 'account', subjectId: accountId, accountId };
      note({ ...act, details: { ...rules, ended } });
      return rules;
    });
    this.onChange();
    return changed;
  }

  /**
   * Change from where a key may be used.
   *
   * @param asked undefined: it keeps its list.
   * @throws Refusal `not_found`; `unauthorized` when the issuing key has just ended; `forbidden` for a key that has a scope which the issuer
   * has not, and for a list that lets in what that of the issuer refuses; `invalid_request` for an entry that is no network, and when the issuer would lock itself out.
   */
  async changeKey(
    issuer: KeyIssuer,
    accountId: string,
    id: string,
    asked: readonly string[] | undefined,
  ): Promise<ApiKeyRecord> {
    if (asked !== undefined) networksOf(asked);
    if (asked !== undefined && issuer.keyId === id) assertListsCaller(asked, issuer.address);
    const changed = await this.audit.record(issuer, async (tx, note) => {
      if (!(await this.accounts.lock(tx, accountId))) throw noAccount(accountId);
      const acting = issuer.keyId === null ? null : assertLive(await this.keys.lock(tx, accountId, issuer.keyId));
      const old = await this.keys.lock(tx, accountId, id);
      if (old === null || old.isSessionKey) throw noKey(id);
      assertManages(issuer, old);
      const allowed = asked ?? old.allowedAddresses;
      assertGrantsAddresses(acting, allowed);
      assertGrantsAddresses(acting, old.allowedAddresses);
      await this.rules.writeKeyAddresses(tx, accountId, id, allowed);
      const act = { action: 'api_key.update', subjectType: 'api_key', subjectId: id, accountId };
      note({ ...act, details: { allowedAddresses: allowed } });
      return { ...old, allowedAddresses: [...allowed] };
    });
    this.onChange();
    return changed;
  }
}

function tooOld(): Refusal {
  const reason = 'is less than the age of the key that you use: you would lock yourself out; rotate it first';
  return Refusal.ofFields([{ field: 'key_max_age_seconds', reason }]);
}
