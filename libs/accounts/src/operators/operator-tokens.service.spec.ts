import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '@millrace/database';
import { KeyRing, createLogger } from '@millrace/platform';
import type { AuditLog } from '../audit-log';
import { FailedAttempts } from '../failed-attempts';
import { SecretMint } from '../sessions';
import { OperatorTokenStore, type OperatorToken } from './operator-token.store';
import { OperatorTokensService } from './operator-tokens.service';

const FAILURES_PER_MINUTE = 3;
/** Lookups that are left to a network after its failures. */
const SPARE = 10;

const mintOf = (ring: KeyRing): SecretMint => new SecretMint(ring, 'operator tokens');
const ring = KeyRing.of(randomBytes(32));

/** The tokens that are known. */
class Known extends OperatorTokenStore {
  lookups = 0;
  readonly hashes = new Set<string>();

  add(text: string): string {
    this.hashes.add(createHash('sha256').update(text).digest('hex'));
    return text;
  }

  override use(_tx: unknown, hash: Buffer): Promise<OperatorToken | null> {
    this.lookups += 1;
    const known = this.hashes.has(hash.toString('hex'));
    return Promise.resolve(known ? ({ name: 'night' } as OperatorToken) : null);
  }

  override findByHash(): Promise<string | null> {
    return Promise.resolve(null);
  }
}

function service(): { known: Known; outcome: (text: string) => Promise<string> } {
  const known = new Known();
  const failures = new FailedAttempts(FAILURES_PER_MINUTE, createLogger('test', 'silent'));
  const refusals = { note: (): void => undefined };
  const tokens = new OperatorTokensService({} as Database, known, mintOf(ring), {} as AuditLog, failures, refusals);
  const outcome = (text: string): Promise<string> =>
    tokens.authenticate(text, '203.0.113.0/24').then(
      ({ name }) => name,
      (error: { code: string }) => error.code,
    );
  return { known, outcome };
}

describe('an operator token', () => {
  it('that a key tagged which has left the ring still counts', async () => {
    const { known, outcome } = service();
    expect(await outcome(known.add(`mrop_${mintOf(KeyRing.of(randomBytes(32))).make()}`))).toBe('night');
  });

  it('that was made up is looked up a few times, and then refused without a lookup', async () => {
    const { known, outcome } = service();
    const outcomes: string[] = [];
    for (let tries = 0; tries < FAILURES_PER_MINUTE + SPARE + 5; tries += 1) outcomes.push(await outcome('mrop_x'));
    expect(known.lookups).toBe(FAILURES_PER_MINUTE + SPARE);
    expect(outcomes.filter((code) => code === 'unauthorized')).toHaveLength(FAILURES_PER_MINUTE);
    expect(outcomes.at(-1)).toBe('rate_limited');
    expect(await outcome(known.add(`mrop_${mintOf(ring).make()}`))).toBe('night');
  });
});
