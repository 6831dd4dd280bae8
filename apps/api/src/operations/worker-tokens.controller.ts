import { Controller } from '@nestjs/common';
import { AuditLog } from '@millrace/accounts';
import { WorkerTokens, type WorkerTokenRecord } from '@millrace/deployments';
import { Serves, type AnswerOf, type InputOf } from '../endpoints';
import { issueWorkerToken, listWorkerTokens, revokeWorkerToken } from './worker-tokens.endpoints';

type Shown = AnswerOf<typeof listWorkerTokens>['tokens'][number];

/** The tokens with which workers outside the cluster join a pool, as operators manage them. */
@Controller()
export class WorkerTokensController {
  constructor(
    private readonly audit: AuditLog,
    private readonly tokens: WorkerTokens,
  ) {}

  @Serves(issueWorkerToken)
  async issue({
    operator,
    params,
    body: { name, expires_at: expiresAt },
  }: InputOf<typeof issueWorkerToken>): Promise<AnswerOf<typeof issueWorkerToken>> {
    const { record, token } = await this.audit.record(operator, async (tx, note) => {
      const issued = await this.tokens.issue(tx, params.pool, { name, expiresAt });
      const details = { pool: params.pool, name, expires_at: expiresAt?.toISOString() ?? null };
      note({ ...actOn('create', issued.record), details });
      return issued;
    });
    return { ...present(record), token };
  }

  @Serves(listWorkerTokens)
  async list({ params }: InputOf<typeof listWorkerTokens>): Promise<AnswerOf<typeof listWorkerTokens>> {
    return { tokens: (await this.tokens.list(params.pool)).map(present) };
  }

  @Serves(revokeWorkerToken)
  async revoke({ operator, params }: InputOf<typeof revokeWorkerToken>): Promise<void> {
    await this.audit.record(operator, async (tx, note) => {
      const revoked = await this.tokens.revoke(tx, params.pool, params.id);
      note({ ...actOn('revoke', revoked), details: { pool: params.pool, name: revoked.name } });
    });
  }
}

function actOn(
  verb: string,
  { id }: WorkerTokenRecord,
): { action: string; subjectType: string; subjectId: string; accountId: null } {
  return { action: `worker_token.${verb}`, subjectType: 'worker_token', subjectId: id, accountId: null };
}

function present({ id, poolId, name, createdAt, lastUsedAt, expiresAt, revokedAt }: WorkerTokenRecord): Shown {
  return {
    id,
    pool: poolId,
    name,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
    expires_at: expiresAt?.toISOString() ?? null,
    revoked_at: revokedAt?.toISOString() ?? null,
  };
}
