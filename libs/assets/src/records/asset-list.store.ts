import { Prisma } from '@prisma/client';
import { LOOKED_AT, lookedAt, type LookedAtRow, type Statements } from '@millrace/database';
import type { AssetRecord } from './asset';
import { isListed, type AssetScope } from './asset-scope.store';
import { assetColumns, recordOf, unexpired, type AssetRow } from './asset.store';

export const ASSET_KINDS = ['upload', 'output'] as const;
/** Who made an asset: its account, or one of its jobs. */
export type AssetKind = (typeof ASSET_KINDS)[number];

/** A place in a list of assets, newest first. */
export type AssetPosition = Pick<AssetRecord, 'createdAt' | 'id'>;

export interface AssetFilter {
  kind: AssetKind;
  /** What the content type begins with, in lower case. */
  contentType: string | null;
  /** Made then or later. */
  createdAfter: Date | null;
  /** Made before. */
  createdBefore: Date | null;
  /** The page begins here; null for the first. */
  from: AssetPosition | null;
  limit: number;
}

/** `LOOKED_AT` of which some are shown, and the one with which the next page begins. */
const ROWS = LOOKED_AT + 1;

/** The condition of each kind is that of its index. */
const IS_OF: Record<AssetKind, Prisma.Sql> = {
  upload: Prisma.sql`a.job_id IS NULL`,
  output: Prisma.sql`a.job_id IS NOT NULL`,
};

/** The SQL of lists of assets. */
export class AssetListStore {
  /** Newest first. @returns with them where the next page begins; null on the last. */
  async list(
    statements: Statements,
    scope: AssetScope,
    filter: AssetFilter,
  ): Promise<{ assets: AssetRecord[]; next: AssetPosition | null }> {
    const rows = await statements.rows<AssetRow & LookedAtRow>(this.listSql(scope, filter));
    const assets = rows.map(({ nth: _, isShown: __, ...row }) => recordOf(row));
    const last = rows.at(-1);
    const isMore = rows.length > filter.limit || last?.nth === ROWS;
    return isMore ? { assets: assets.slice(0, -1), next: assets.at(-1) ?? null } : { assets, next: null };
  }

  /**
   * The statement of `list`, whose plans a test checks. It walks the index of the kind, and stops at the row behind the page: the
   * one beyond the limit, or beyond those that it looks at.
   */
  listSql(scope: AssetScope, { kind, contentType, createdAfter, createdBefore, from, limit }: AssetFilter): Prisma.Sql {
    const within = [Prisma.sql`a.account_id = ${scope.accountId}::uuid`, IS_OF[kind]];
    if (scope.labels !== null) within.push(isListed[kind](scope));
    if (from !== null)
      within.push(Prisma.sql`(a.created_at, a.id) <= (${from.createdAt}::timestamptz, ${from.id}::uuid)`);
    if (createdAfter !== null) within.push(Prisma.sql`a.created_at >= ${createdAfter}::timestamptz`);
    if (createdBefore !== null) within.push(Prisma.sql`a.created_at < ${createdBefore}::timestamptz`);
    const shown = [unexpired];
    if (contentType !== null) shown.push(Prisma.sql`starts_with(lower(a.content_type), ${contentType})`);
    const order = Prisma.sql`a.created_at DESC, a.id DESC`;
    const list = { table: 'assets', alias: 'a', within: Prisma.join(within, ' AND '), order, shown, limit, rows: ROWS };
    return Prisma.sql`
      SELECT ${assetColumns}, a.nth, a.is_shown FROM (${lookedAt(list)}) a
      JOIN blobs b ON b.account_id = a.account_id AND b.hash = a.hash ORDER BY ${order}`;
  }
}
