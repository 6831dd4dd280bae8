import { randomUUID } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum, bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';

/** PostgreSQL's one-byte type `"char"`, which the catalogues use. */
const CHAR_OID = 18;
const TEXT_OID = 25;

/**
 * A connection to the server of `url`, to the named database there.
 *
 * @template T
 * @param {string} url
 * @param {string} database
 * @param {(client: pg.Client) => Promise<T>} use
 */
export async function withClient(url, database, use) {
  const client = new pg.Client({ ...partsOf(url), database });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/**
 * The URL taken apart. The adapter overrides `database` for the shadow database, and node-postgres would let a
 * `connectionString` win over that: the shadow database would then be the main one.
 *
 * @param {string} url
 */
export function partsOf(url) {
  const { host, port, user, password, database, ssl } = new pg.Client({ connectionString: url });
  return { host, port, user, password: password ?? undefined, database, ssl, connectionTimeoutMillis: 10_000 };
}

/** @typedef {Awaited<ReturnType<PrismaPg['connect']>>} Connection */

/**
 * The database as Prisma's schema engine wants it, round four faults of @prisma/adapter-pg 7.10: those of `partsOf`,
 * `sendWhole` and `admitChar`, and that it drops the shadow database before it has left it.
 *
 * @param {string} url
 */
export function migrationAdapter(url) {
  const parts = partsOf(url);
  const main = parts.database ?? 'postgres';
  const adapter = new PrismaPg(parts);
  const connect = adapter.connect.bind(adapter);
  adapter.connect = async () => adapt(await connect());
  adapter.connectToShadowDb = async () => {
    const database = `prisma_migrate_shadow_db_${randomUUID()}`;
    await withClient(url, main, (client) => client.query(`CREATE DATABASE "${database}"`));
    const shadow = adapt(await new PrismaPg({ ...parts, database }).connect());
    const leave = shadow.dispose.bind(shadow);
    shadow.dispose = async () => {
      await leave();
      await withClient(url, main, (client) => client.query(`DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`));
    };
    return shadow;
  };
  return bindMigrationAwareSqlAdapterFactory(adapter);
}

/** @param {Connection} connection */
function adapt(connection) {
  return sendWhole(admitChar(connection));
}

/**
 * Send a script as one message, which the server takes apart and runs in one transaction, as the native engine does. The
 * adapter cuts it at every semicolon, also those in comments, texts and function bodies.
 *
 * @param {Connection} connection
 */
function sendWhole(connection) {
  const errors = /** @type {{ onError(error: unknown): never }} */ (/** @type {unknown} */ (connection));
  connection.executeScript = async (script) => {
    try {
      await connection.underlyingDriver().query(script);
    } catch (error) {
      errors.onError(error);
    }
  };
  return connection;
}

/**
 * Let PostgreSQL's one-byte type `"char"` through, which the catalogues use and the adapter refuses: the engine wants it as a
 * single character.
 *
 * @param {Connection} connection
 */
function admitChar(connection) {
  const inner = /** @type {{ performIO(query: unknown): Promise<pg.QueryArrayResult> }} */ (
    /** @type {unknown} */ (connection)
  );
  const perform = inner.performIO.bind(inner);
  const queryRaw = connection.queryRaw.bind(connection);
  /** @type {Set<number>} */
  let chars = new Set();
  inner.performIO = async (query) => {
    const result = await perform(query);
    chars = new Set(result.fields.flatMap(({ dataTypeID }, at) => (dataTypeID === CHAR_OID ? [at] : [])));
    for (const at of chars) Object.assign(result.fields[at] ?? {}, { dataTypeID: TEXT_OID });
    return result;
  };
  connection.queryRaw = async (query) => {
    const answer = await queryRaw(query);
    return {
      ...answer,
      columnTypes: answer.columnTypes.map((type, at) => (chars.has(at) ? ColumnTypeEnum.Character : type)),
    };
  };
  return connection;
}
