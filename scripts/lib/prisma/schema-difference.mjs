import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../system/index.mjs';

/** PostgreSQL's one-byte type `"char"`, which the catalogues use. */
const CHAR_OID = 18;
const TEXT_OID = 25;

/** @typedef {Awaited<ReturnType<import('@prisma/adapter-pg').PrismaPg['connect']>>} Connection */
/** @typedef {import('@prisma/driver-adapter-utils').ColumnType} ColumnType */

/**
 * Prisma's comparison of a database with prisma/schema.prisma, by the WebAssembly build of its schema engine, which comes with the packages.
 * CHECKs, triggers, functions, partial and expression indexes are outside what the schema can say: it leaves them alone.
 *
 * @param {string} url
 * @returns {Promise<string | undefined>} what would have to change in the database, for people to read; undefined: nothing
 * @throws {Error} when the schema or the database cannot be read
 */
export async function schemaDifference(url) {
  const path = join(ROOT, 'prisma', 'schema.prisma');
  const content = readFileSync(path, 'utf8');
  const files = [{ path, content }];
  /** @type {Connection[]} */
  const opened = [];
  const SchemaEngine = await loadEngine();
  const engine = await SchemaEngine.new(
    { datamodels: [[path, content]] },
    () => undefined,
    await adapterOf(url, opened),
  );
  try {
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: ROOT },
      to: { tag: 'schemaDatamodel', files },
      ...{ script: false, exitCode: true, filters: { externalTables: [], externalEnums: [] } },
    });
    return exitCode === 0 ? undefined : (stdout ?? '');
  } finally {
    for (const connection of opened) await connection.dispose();
  }
}

/** The package's own entry imports the .wasm file as a module, which Node does not do without a flag. */
async function loadEngine() {
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm');
  const bytes = readFileSync(entry.replace(/schema_engine\.js$/, 'schema_engine_bg.wasm'));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { './schema_engine_bg.js': glue });
  glue.__wbg_set_wasm(exports);
  /** @type {() => void} */ (exports.__wbindgen_start)();
  return glue.SchemaEngine;
}

/**
 * The database as the engine wants it.
 *
 * @param {string} url
 * @param {Connection[]} opened gets the connections that are made
 */
async function adapterOf(url, opened) {
  // Not there before the packages are installed.
  const { PrismaPg } = await import('@prisma/adapter-pg');
  const { ColumnTypeEnum, bindMigrationAwareSqlAdapterFactory } = await import('@prisma/driver-adapter-utils');
  const adapter = new PrismaPg({ connectionString: url });
  const connect = adapter.connect.bind(adapter);
  adapter.connect = async () => {
    const connection = admitChar(await connect(), ColumnTypeEnum.Character);
    opened.push(connection);
    return connection;
  };
  return bindMigrationAwareSqlAdapterFactory(adapter);
}

/**
 * Let PostgreSQL's one-byte type `"char"` through, which the catalogues use and the adapter refuses: the engine wants it as a
 * single character.
 *
 * @param {Connection} connection
 * @param {ColumnType} character
 */
function admitChar(connection, character) {
  const inner = /** @type {{ performIO(query: unknown): Promise<import('pg').QueryArrayResult> }} */ (
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
      columnTypes: answer.columnTypes.map((type, at) => (chars.has(at) ? character : type)),
    };
  };
  return connection;
}
