import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { ModelFormat, ModelHeader } from '../headers';
import type { Model, ModelDraft } from './model';

export const modelColumns = Prisma.sql`
  m.id, m.account_id, m.folder, m.name, m.shared, m.state, m.problem, m.format, m.kind, m.architecture, m.parameters::float8,
  m.size_bytes::float8, m.received_bytes::float8, m.digest, m.expected_hash, m.licence, m.source_url, m.upload_id, m.asset_id,
  m.created_at, m.last_used_at`;

/** What an account sees: all its own, and what is shared. */
const visibleTo = (accountId: string): Prisma.Sql =>
  Prisma.sql`(m.account_id = ${accountId}::uuid OR (m.shared AND m.state = 'ready'))`;
export const isOwn = (accountId: string, id: string): Prisma.Sql =>
  Prisma.sql`m.id = ${id}::uuid AND m.account_id = ${accountId}::uuid`;
/**
 * A job that has not ended names it: in what its loaders name, else anywhere in its graph, since adapters and further models of a job are
 * not among the former. Names alone are known: a model of the same name in another folder is kept, too.
 *
 * @param spellings of the name as JSON; JSON may have `/` escaped as well, and escapes in either case.
 */
const inUse = (spellings: readonly string[]): Prisma.Sql => Prisma.sql`EXISTS (
  SELECT FROM jobs j WHERE j.delivery <> 'done' AND j.account_id = m.account_id
    AND (m.name = ANY(j.models) OR EXISTS (
      SELECT FROM job_graphs g, unnest(${[...spellings]}::text[]) spelling
      WHERE g.job_id = j.id AND ${isSpelledIn(Prisma.sql`g.workflow`)})))`;

/** A deployment, or the version of it that takes jobs beside its own, names it among the models that its workers have. */
const namesIt = Prisma.sql`
  coalesce(d.models || v.models, d.models) @> jsonb_build_array(jsonb_build_object('folder', m.folder, 'name', m.name))`;

/** A deployment of its account does so. */
export const isOfDeployment = Prisma.sql`EXISTS (
  SELECT FROM deployments d LEFT JOIN deployment_versions v ON v.deployment_id = d.id AND v.ended_at IS NULL
  WHERE d.account_id = m.account_id AND d.deleted_at IS NULL AND ${namesIt})`;

/** When the model `m` failed; one that a process of the version before ended, when it began. */
const failedAt = Prisma.sql`coalesce(m.failed_at, m.created_at)`;
/** How long the deletion of a model waits for a locked row: longer than other statements hold one, and far less than a batch does that is recorded. */
const LOCK_WAIT_MS = 250;
/** An account that had no limit on them may have any number. */
const DROPPED_AT_ONCE = 1_000;

/** A text of JSON has the `spelling` of a name. */
export function isSpelledIn(json: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`position(lower(spelling) IN lower(replace(${json}, '\\/', '/'))) > 0`;
}

/** How a text is spelled in JSON, with what is not ASCII as it is and escaped. */
export function spellingsOf(text: string): string[] {
  const plain = JSON.stringify(text);
  const escaped = plain.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [...new Set([plain, escaped])];
}

/** What a list of models shows, and from where on. */
export interface ModelFilter {
  folder: string | null;
  /** True: only shared ones; false: only those that are not. */
  shared: boolean | null;
  /** Only older ones; null for the first page. */
  before: string | null;
  limit: number;
}

/** What a model is once its bytes were looked at. */
export interface ModelContent {
  assetId: string;
  /** 64 hexadecimal digits. */
  digest: string;
  sizeBytes: number;
  header: ModelHeader | null;
}

/** The SQL of models. Every method that an account causes takes it: the model of another is not found. */
export class ModelStore {
  /** How many models the account has, without those that failed. Until the transaction ends, it gets no other. @param most counted at most. */
  async countLocked(tx: Statements, accountId: string, most: number): Promise<number> {
    await tx.rows(Prisma.sql`
      SELECT pg_advisory_xact_lock(hashtextextended(${`models of ${accountId}`}, 0))::text AS locked`);
    const [row] = await tx.rows<{ count: number }>(Prisma.sql`
      SELECT count(*)::int AS count FROM (
        SELECT FROM models WHERE account_id = ${accountId}::uuid AND state <> 'failed' LIMIT ${most}) AS counted`);
    return row?.count ?? 0;
  }

  /** Of the models of an account that failed, delete all but the latest. @param kept how many stay. @returns how many went, 1,000 at most. */
  async dropFailed(tx: Statements, accountId: string, kept: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM models WHERE id IN (
        SELECT m.id FROM models m WHERE m.account_id = ${accountId}::uuid AND m.state = 'failed'
        ORDER BY ${failedAt} DESC OFFSET ${kept}::int LIMIT ${DROPPED_AT_ONCE})`);
  }

  /** Record a model whose bytes are to come; one of the name that failed gives way. @returns null where the name is taken. */
  async insert(
    tx: Statements,
    draft: ModelDraft & { id: string; format: ModelFormat; sizeBytes: number | null; uploadId: string | null },
  ): Promise<Model | null> {
    const { id, accountId, folder, name, format, sizeBytes, uploadId } = draft;
    await tx.execute(Prisma.sql`
      DELETE FROM models WHERE account_id = ${accountId}::uuid AND folder = ${folder} AND name = ${name} AND state = 'failed'`);
    const state = uploadId === null ? 'importing' : 'uploading';
    const [row] = await tx.rows<Model>(Prisma.sql`
      INSERT INTO models AS m
        (id, account_id, folder, name, format, state, size_bytes, upload_id, licence, source_url, expected_hash, import_due_at)
      VALUES (${id}::uuid, ${accountId}::uuid, ${folder}, ${name}, ${format}, ${state}, ${sizeBytes}, ${uploadId}::uuid,
        ${draft.licence}, ${draft.sourceUrl}, ${draft.expectedHash}, CASE WHEN ${uploadId}::uuid IS NULL THEN date_trunc('milliseconds', now()) END)
      ON CONFLICT (account_id, folder, name) DO NOTHING RETURNING ${modelColumns}`);
    return row ?? null;
  }

  /** Newest first. @param accountId null: those of all accounts. */
  async list(
    tx: Statements,
    accountId: string | null,
    { folder, shared, before, limit }: ModelFilter,
  ): Promise<Model[]> {
    const within = [accountId === null ? Prisma.sql`true` : visibleTo(accountId)];
    if (folder !== null) within.push(Prisma.sql`m.folder = ${folder}`);
    if (shared !== null) within.push(Prisma.sql`m.shared = ${shared}`);
    if (before !== null) within.push(Prisma.sql`m.id < ${before}::uuid`);
    return tx.rows(Prisma.sql`
      SELECT ${modelColumns} FROM models m WHERE ${Prisma.join(within, ' AND ')} ORDER BY m.id DESC LIMIT ${limit}`);
  }

  /** @param accountId null: of any account. */
  async find(tx: Statements, accountId: string | null, id: string): Promise<Model | null> {
    const visible = accountId === null ? Prisma.sql`true` : visibleTo(accountId);
    const [row] = await tx.rows<Model>(Prisma.sql`
      SELECT ${modelColumns} FROM models m WHERE m.id = ${id}::uuid AND ${visible}`);
    return row ?? null;
  }

  async findOwn(tx: Statements, accountId: string, id: string): Promise<Model | null> {
    const [row] = await tx.rows<Model>(Prisma.sql`SELECT ${modelColumns} FROM models m WHERE ${isOwn(accountId, id)}`);
    return row ?? null;
  }

  /**
   * The same, which nobody uses for a job until the transaction ends. What does so now is waited for, but no longer than LOCK_WAIT_MS, also by what
   * follows in the transaction: a batch uses its models for as long as it is recorded.
   *
   * @throws an error with SQLSTATE 55P03 (see `isLockTimeout`).
   */
  async findOwnLocked(tx: Statements, accountId: string, id: string): Promise<Model | null> {
    await tx.query(Prisma.sql`SELECT set_config('lock_timeout', ${`${LOCK_WAIT_MS}ms`}, true)`);
    const [row] = await tx.rows<Model>(Prisma.sql`
      SELECT ${modelColumns} FROM models m WHERE ${isOwn(accountId, id)} FOR UPDATE`);
    return row ?? null;
  }

  /**
   * A model that nothing uses is deleted. Lock it before, by a statement of its own: what a submission that was waited for has recorded, a statement
   * sees that begins after it.
   *
   * @returns null where there is none, it is in use or shared, or a deployment names it.
   */
  async removeUnused(
    tx: Statements,
    { accountId, id, name }: Pick<Model, 'accountId' | 'id' | 'name'>,
  ): Promise<Model | null> {
    const [row] = await tx.rows<Model>(Prisma.sql`
      DELETE FROM models m WHERE ${isOwn(accountId, id)} AND NOT m.shared AND NOT ${inUse(spellingsOf(name))}
        AND NOT ${isOfDeployment}
      RETURNING ${modelColumns}`);
    return row ?? null;
  }

  /** The name of a deployment that names a model of an account; null where none does. */
  async deploymentOf(tx: Statements, { id }: Pick<Model, 'id'>): Promise<string | null> {
    const [row] = await tx.rows<{ name: string }>(Prisma.sql`
      SELECT d.name FROM models m JOIN deployments d ON d.account_id = m.account_id AND d.deleted_at IS NULL
      LEFT JOIN deployment_versions v ON v.deployment_id = d.id AND v.ended_at IS NULL
      WHERE m.id = ${id}::uuid AND ${namesIt} ORDER BY d.id LIMIT 1`);
    return row?.name ?? null;
  }

  /** Let all accounts use a model, or its own alone. @returns null where there is none that is ready. @throws ConstraintError `unique`. */
  async share(tx: Statements, id: string, shared: boolean): Promise<Model | null> {
    const [row] = await tx.rows<Model>(Prisma.sql`
      UPDATE models m SET shared = ${shared} WHERE m.id = ${id}::uuid AND m.state = 'ready' RETURNING ${modelColumns}`);
    return row ?? null;
  }

  /** Its bytes are there, and are what its name says. @returns false where another process ended it. */
  async settle(tx: Statements, model: Model, { assetId, digest, sizeBytes, header }: ModelContent): Promise<boolean> {
    const { kind = null, architecture = null, parameters = null } = header ?? {};
    const count = await tx.execute(Prisma.sql`
      UPDATE models SET state = 'ready', ready_at = now(), asset_id = ${assetId}::uuid, digest = ${digest}, size_bytes = ${sizeBytes},
        received_bytes = ${sizeBytes}, kind = ${kind}, architecture = ${architecture}, parameters = ${parameters}, import_due_at = NULL
      WHERE id = ${model.id}::uuid AND state = ${model.state}`);
    return count > 0;
  }

  /** It will have no bytes. @returns false where another process ended it. */
  async fail(tx: Statements, { id, state }: Pick<Model, 'id' | 'state'>, problem: string): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      UPDATE models SET state = 'failed', failed_at = now(), problem = ${problem}, import_due_at = NULL
      WHERE id = ${id}::uuid AND state = ${state} AND state IN ('uploading', 'importing')`);
    return count > 0;
  }

  /** Uploads of all accounts that became an asset, and whose request ended before it said so here. @param after null: from the first. */
  async listUnsettled(tx: Statements, after: string | null, limit: number): Promise<Model[]> {
    return tx.rows(Prisma.sql`
      SELECT ${modelColumns} FROM models m JOIN resumable_uploads u ON u.id = m.upload_id
      WHERE m.state = 'uploading' AND u.asset_id IS NOT NULL AND coalesce(u.held_until, '-infinity') < now()
        AND (m.id > ${after}::uuid) IS NOT FALSE
      ORDER BY m.id LIMIT ${limit}`);
  }

  /** Models that failed so many days ago. @returns how many were deleted. */
  async removeFailed(tx: Statements, keptDays: number, limit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM models WHERE id IN (
        SELECT m.id FROM models m WHERE m.state = 'failed' AND ${failedAt} < now() - make_interval(days => ${keptDays}::int)
        ORDER BY ${failedAt} LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  }

  /** Models whose upload is gone: it has expired. @returns how many were deleted. */
  async removeAbandoned(tx: Statements, limit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM models WHERE id IN (
        SELECT m.id FROM models m WHERE m.state = 'uploading'
          AND NOT EXISTS (SELECT 1 FROM resumable_uploads u WHERE u.id = m.upload_id)
        ORDER BY m.id LIMIT ${limit} FOR UPDATE SKIP LOCKED)`);
  }
}
