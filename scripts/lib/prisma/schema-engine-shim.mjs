#!/usr/bin/env node
// Prisma's schema engine where the native one is not available: the same command line and the same JSON-RPC over standard
// input and output, on top of @prisma/schema-engine-wasm. Prisma starts it through PRISMA_SCHEMA_ENGINE_BINARY.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { parseJson } from '../system/index.mjs';
import { migrationAdapter, partsOf, withClient } from './schema-engine-adapter.mjs';

/** @typedef {import('@prisma/schema-engine-wasm').SchemaEngine} SchemaEngine */
/** @typedef {{ id: number, method?: string, params?: unknown }} Request */
/** @typedef {(params: unknown) => Promise<{ stdout?: string | null } | null | undefined>} Method */

const RPC_FAILURE = 4466;
/** Ids of our own messages, out of the way of the requests' ids. */
const FIRST_OWN_ID = 1_000_000;

/** What the engine says before it traps. */
let lastWords = '';

const args = process.argv.slice(2);
const datasource = /** @type {{ url?: string }} */ (parseJson(option('--datasource') ?? '{}'));
const url = datasource.url ?? process.env.DATABASE_URL ?? '';

if (args.includes('--version') || args.includes('-V')) process.stdout.write('schema-engine-cli wasm\n');
else if (args.includes('cli')) await runDatabaseCommand(args[args.indexOf('cli') + 1] ?? '');
else await serve(await loadEngine());

/** @param {string} name */
function option(name) {
  const at = args.indexOf(name);
  return at < 0 ? undefined : args[at + 1];
}

/**
 * The engine's command-line half: questions about a database as a whole.
 *
 * @param {string} command
 */
async function runDatabaseCommand(command) {
  const { database = 'postgres', host = '' } = partsOf(url);
  const name = pg.escapeIdentifier(database);
  try {
    if (command === 'can-connect-to-database') await withClient(url, database, async () => undefined);
    else if (command === 'create-database') await onServer(`CREATE DATABASE ${name}`);
    else if (command === 'drop-database') await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    else throw new Error(`unknown command ${command}`);
    process.stdout.write(command === 'can-connect-to-database' ? 'Connection successful\n' : 'Done\n');
  } catch (error) {
    const { code, message } = /** @type {pg.DatabaseError} */ (error);
    if (code === '3D000') refuse('P1003', `Database \`${database}\` does not exist`, { database_name: database });
    else if (code === 'ECONNREFUSED')
      refuse('P1001', `Can't reach database server at ${host}`, { database_location: host });
    else if (code === '28P01' || code === '28000') refuse('P1000', 'Authentication failed');
    else refuse('P1010', message);
  }
}

/** @param {string} sql */
async function onServer(sql) {
  await withClient(url, 'postgres', (client) => client.query(sql));
}

/**
 * @param {string} errorCode
 * @param {string} message
 * @param {object} [meta]
 */
function refuse(errorCode, message, meta = {}) {
  const fields = { message, is_panic: false, error_code: errorCode, meta };
  const line = { timestamp: new Date().toISOString(), level: 'ERROR', fields, target: 'schema_engine::logger' };
  process.stderr.write(`${JSON.stringify(line)}\n`);
  process.exitCode = 1;
}

/** @returns {Promise<SchemaEngine>} */
async function loadEngine() {
  // The package's own entry imports the .wasm file as a module, which Node does not do without a flag.
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm');
  const bytes = readFileSync(entry.replace(/schema_engine\.js$/, 'schema_engine_bg.wasm'));
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), {
    './schema_engine_bg.js': glue,
  });
  glue.__wbg_set_wasm(instance.exports);
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: { set_message: (/** @type {string} */ message) => (lastWords = message) },
  });
  /** @type {() => void} */ (instance.exports.__wbindgen_start)();
  /** @type {[string, string][]} */
  const schemas = args.flatMap((arg, at) => {
    const file = arg === '--datamodels' ? args[at + 1] : undefined;
    return file === undefined ? [] : [[file, readFileSync(file, 'utf8')]];
  });
  const datamodels = schemas.length > 0 ? schemas : undefined;
  return glue.SchemaEngine.new({ datamodels }, () => undefined, migrationAdapter(url));
}

/**
 * Answer requests one after the other, in the order in which they come. A panic of the engine leaves its promise unsettled
 * and arrives as an uncaught trap; unanswered, Prisma would take it for success.
 *
 * @param {SchemaEngine} engine
 */
async function serve(engine) {
  let id = 0;
  process.on('uncaughtException', (error) => {
    write(failureOf(id, lastWords === '' ? error : new Error(lastWords)));
    process.exit(1);
  });
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const request = /** @type {Request} */ (parseJson(line));
    // Without a method it is the answer to a `print` of ours.
    if (request.method === undefined) continue;
    id = request.id;
    write(await answer(engine, request));
  }
  process.exit(0);
}

/**
 * @param {SchemaEngine} engine
 * @param {Request} request
 */
async function answer(engine, { id, method, params }) {
  try {
    const name = method === 'getDatabaseVersion' ? 'version' : method;
    const methods = /** @type {Record<string, Method | undefined>} */ (/** @type {unknown} */ (engine));
    const call = methods[name ?? ''];
    if (typeof call !== 'function') throw new Error(`method not found: ${method}`);
    const result = await call.call(engine, params);
    if (method === 'diff' && typeof result?.stdout === 'string') {
      write({ id: FIRST_OWN_ID + id, method: 'print', params: { content: result.stdout } });
      result.stdout = null;
    }
    return { id, result: result ?? null };
  } catch (error) {
    return failureOf(id, error);
  }
}

/**
 * @param {number} id
 * @param {unknown} error
 */
function failureOf(id, error) {
  const { message, meta, code } = /** @type {{ message: string, meta?: unknown, code?: string }} */ (error);
  const data = { is_panic: false, message: String(message), meta: meta ?? null, error_code: code ?? null };
  return { id, error: { code: RPC_FAILURE, message: 'An error happened. Check the data field for details.', data } };
}

/** @param {object} message */
function write(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
