import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Failure } from '../command/index.mjs';
import { runTool } from '../system/index.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {import('./buckets.mjs').Buckets} Buckets */

/**
 * A moment that database and bytes can be restored to. `at`: as PostgreSQL writes it; `atMs`: the same, since the epoch.
 *
 * @typedef {{ at: string, atMs: number }} RestorePoint
 */

/** Below the data, so that PostgreSQL's own user makes it. */
const ARCHIVE = 'wal_archive';
/** Settings of a server whose WAL is kept. A segment appears under its name when it is whole. */
export const ARCHIVING = {
  archive_mode: 'on',
  archive_command: `mkdir -p ${ARCHIVE} && cp "%p" "${ARCHIVE}/.%f" && mv "${ARCHIVE}/.%f" "${ARCHIVE}/%f"`,
};
/** What a base backup leaves out (PostgreSQL's manual, "Making a Base Backup Using the Low Level API"). */
const LEFT_OUT = [
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
];
const LEFT_OUT_WHOLE = [ARCHIVE, 'postmaster.pid', 'postmaster.opts'];
/** GNU tar: a file changed while it was read, which the WAL mends. */
const TAR_CHANGED = 1;
const ARCHIVED_LIMIT_MS = 60_000;
const POLL_MS = 50;

/** Places in the bucket of backups. */
export const PLACES = {
  base: 'base.tar',
  label: 'backup_label',
  wal: 'wal/',
  blobs: 'blobs/',
  notes: 'notes/',
  secrets: 'secrets.json',
};

/** Keeps a running stack restorable: a base backup, and rounds that add the WAL and the bytes since. */
export class Backup {
  /** @type {RestorePoint | undefined} */
  #point;
  /** Why the rounds ended before they were stopped. @type {Error | undefined} */
  #fault;
  #stopping = new AbortController();
  /** @type {Promise<void> | undefined} */
  #rounds;
  /** @type {Set<string>} */
  #shipped = new Set();

  /**
   * @param {Scope} scope
   * @param {{ buckets: Buckets, from: string, to: string, databaseUrl: string, dataDir: string }} parts `from`: the bucket of
   *   the stack; `to`: the bucket of backups; `dataDir`: PostgreSQL's
   */
  constructor(scope, { buckets, from, to, databaseUrl, dataDir }) {
    this.scope = scope;
    this.buckets = buckets;
    this.from = from;
    this.to = to;
    this.dataDir = dataDir;
    this.database = new pg.Client({ connectionString: databaseUrl });
    // Its server is to be killed.
    this.database.on('error', () => undefined);
  }

  async open() {
    await this.database.connect();
    this.scope.defer(() => this.database.end().catch(() => undefined));
  }

  /**
   * Copy the data of the running server. The copy is of no moment: WAL from its begin to its end makes it one.
   *
   * @throws {Failure} when it cannot be read
   */
  async takeBase() {
    const file = `${this.dataDir}.base.tar`;
    await this.database.query("SELECT pg_backup_start('drill', fast => true)");
    const excluded = [...LEFT_OUT.map((name) => `./${name}/*`), ...LEFT_OUT_WHOLE.map((name) => `./${name}`)];
    const flags = [
      '--create',
      '--file',
      file,
      '--directory',
      this.dataDir,
      ...excluded.map((name) => `--exclude=${name}`),
    ];
    try {
      const { code, output } = await runTool(this.scope, 'tar', [...flags, '.']);
      if (code !== 0 && code !== TAR_CHANGED) throw new Failure(`The base backup failed: ${output.trim()}`);
      /** @type {import('pg').QueryResult<{ labelfile: string }>} */
      const { rows } = await this.database.query('SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)');
      await this.buckets.putFile(this.to, PLACES.base, file);
      await this.buckets.putText(this.to, PLACES.label, rows[0]?.labelfile ?? '');
    } finally {
      rmSync(file, { force: true });
    }
  }

  /**
   * The moment of now, and a commit after it: recovery stops at the first commit that is later than its target.
   *
   * @returns {Promise<RestorePoint>}
   */
  async mark() {
    /** @type {import('pg').QueryResult<RestorePoint>} */
    const { rows } = await this.database.query(
      'SELECT statement_timestamp()::text AS at, extract(epoch FROM statement_timestamp())::float8 * 1000 AS "atMs"',
    );
    await this.database.query("SELECT pg_logical_emit_message(true, 'drill', 'restore point')");
    const [point] = rows;
    if (point === undefined) throw new Failure('PostgreSQL did not say what time it is.');
    return point;
  }

  /** Back up what is new: first the WAL up to now, then the bytes, so that all that the restored rows name is there. */
  async round() {
    const point = await this.mark();
    /** @type {import('pg').QueryResult<{ segment: string }>} */
    const { rows } = await this.database.query('SELECT pg_walfile_name(pg_switch_wal()) AS segment');
    await this.#untilArchived(rows[0]?.segment ?? '');
    const archive = join(this.dataDir, ARCHIVE);
    for (const name of readdirSync(archive).sort()) {
      if (name.startsWith('.') || this.#shipped.has(name)) continue;
      await this.buckets.putFile(this.to, `${PLACES.wal}${name}`, join(archive, name));
      this.#shipped.add(name);
    }
    for (const place of [PLACES.blobs, PLACES.notes]) await this.buckets.copyMissing(this.from, this.to, place);
    this.#point = point;
  }

  /** The last round that is whole: the stack can be restored to this moment. @throws {Failure} when there is none, or what a round failed for */
  get point() {
    if (this.#fault !== undefined) throw this.#fault;
    if (this.#point === undefined) throw new Failure('No round of the backup is whole yet.');
    return this.#point;
  }

  /** @param {string} segment */
  async #untilArchived(segment) {
    const until = Date.now() + ARCHIVED_LIMIT_MS;
    while (!existsSync(join(this.dataDir, ARCHIVE, segment))) {
      if (Date.now() > until) throw new Failure(`PostgreSQL did not archive ${segment} in time; see its log.`);
      await this.scope.pause(POLL_MS);
    }
  }

  /**
   * Do rounds until `stop`.
   *
   * @param {number} pauseMs between them
   */
  keepUp(pauseMs) {
    const { signal } = this.#stopping;
    const goOn = async () => {
      while (!signal.aborted) {
        await this.round();
        await this.scope.pause(pauseMs);
      }
    };
    this.#rounds = goOn();
    this.#rounds.catch((/** @type {Error} */ fault) => (this.#fault = fault));
  }

  /** End the rounds, the last of them whole. @throws what a round failed for */
  async stop() {
    this.#stopping.abort();
    await this.#rounds;
  }
}
