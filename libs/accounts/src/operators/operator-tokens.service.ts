import { createHash } from 'node:crypto';
import { Refusal, type OperatorRole } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import { BoundedMap } from '@millrace/platform';
import type { AuditLog, Operator, RefusalLog } from '../audit-log';
import type { FailedAttempts } from '../failed-attempts';
import { KnownSecrets } from '../known-secrets';
import type { SecretMint } from '../sessions';
import type { OperatorToken, OperatorTokenStore } from './operator-token.store';

/** So that scanners for leaked secrets recognise one. */
const PREFIX = 'mrop_';
/** Whom a token names that nobody made. */
const OPERATORS = { subjectType: 'operators', subjectId: 'operators', accountId: null };
/** Those that a list shows; more than any service has. */
const LISTED = 1_000;
/** Those that have ended, of which this process knows the ids. */
const ENDED_TOKENS = 10_000;

/** Operators' tokens: named, with a role and an end. */
export class OperatorTokensService {
  private readonly known: KnownSecrets;
  /** Of tokens that were ours and work no more, by their hashes. */
  private readonly endedIds = new BoundedMap<{ id: string }>(ENDED_TOKENS);

  constructor(
    private readonly database: Database,
    private readonly tokens: OperatorTokenStore,
    private readonly mint: SecretMint,
    private readonly audit: AuditLog,
    private readonly failures: FailedAttempts,
    private readonly refusals: Pick<RefusalLog, 'note'>,
  ) {
    this.known = new KnownSecrets(failures, { countsLookUps: true });
  }

  /**
   * Make a token. Its text is shown now and never again.
   *
   * @throws Refusal `invalid_request` when the name is taken, or was.
   */
  async make(
    operator: Operator,
    wanted: { name: string; role: OperatorRole; expiresAt: Date },
  ): Promise<OperatorToken & { text: string }> {
    const text = `${PREFIX}${this.mint.make()}`;
    return this.audit.record(operator, async (tx, note) => {
      const token = await this.tokens.create(tx, hashOf(text), { ...wanted, createdBy: operator.actor });
      if (token === null) {
        const reason = `there is or was a token named ${wanted.name}; a name is given once, so that the audit log says whose act it was`;
        throw Refusal.ofFields([{ field: 'name', reason }]);
      }
      const { name, role, expiresAt } = token;
      note({ ...actOn(token, 'create'), details: { name, role, expiresAt: expiresAt.toISOString() } });
      return { ...token, text };
    });
  }

  /** True for what is meant as one of these. */
  isOne(text: string): boolean {
    return text.startsWith(PREFIX);
  }

  /**
   * The token of this text, read each time: one that was revoked is refused at once. The tag says only that the text is no invention: one without a
   * tag of the ring, which a former key may have made, is looked up within the limit of its network, and counts as a failed authentication of
   * it where there is none. One with a tag that works no more counts when it is looked up.
   *
   * @throws Refusal 401 `unauthorized`, 429 `rate_limited`.
   */
  async authenticate(text: string, network: string): Promise<OperatorToken> {
    const isOurs = this.mint.made(text.slice(PREFIX.length));
    const bytes = hashOf(text);
    const hash = bytes.toString('base64');
    const token = await this.known.find({ hash, isOurs, network, load: () => this.use(hash, bytes) });
    if (token !== null) return token;
    const ended = this.endedIds.get(hash);
    const act = ended === undefined ? OPERATORS : { ...OPERATORS, subjectType: 'operator_token', subjectId: ended.id };
    this.refusals.note({ ...act, action: 'operator_token.refuse' }, network);
    const message = 'The operator token is not valid: it was revoked, has expired, or never was one.';
    throw isOurs ? new Refusal('unauthorized', message) : this.failures.refusal(network, message);
  }

  private async use(hash: string, bytes: Buffer): Promise<OperatorToken | null> {
    const token = await this.tokens.use(this.database, bytes);
    if (token !== null) return token;
    const id = await this.tokens.findByHash(this.database, bytes);
    if (id !== null) this.endedIds.set(hash, { id });
    return null;
  }

  /** All of them, newest first, those that no longer work among them. */
  list(): Promise<OperatorToken[]> {
    return this.tokens.list(this.database, LISTED);
  }

  /** It is refused from now on, and so are the sessions that were opened with it. @throws Refusal `not_found`. */
  async revoke(operator: Operator, id: string): Promise<void> {
    await this.audit.record(operator, async (tx, note) => {
      const token = await this.tokens.revoke(tx, id);
      if (token === null) throw new Refusal('not_found', `There is no operator token ${id}.`);
      note({ ...actOn(token, 'revoke'), details: { name: token.name } });
    });
  }
}

/** The text has 256 random bits, so the hash says nothing of it. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function actOn(
  { id }: OperatorToken,
  verb: 'create' | 'revoke',
): { action: string; subjectType: string; subjectId: string; accountId: null } {
  return { action: `operator_token.${verb}`, subjectType: 'operator_token', subjectId: id, accountId: null };
}
