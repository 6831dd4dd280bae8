/** @typedef {import('pg').Client} Client */

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Use a connection, which is closed afterwards.
 *
 * @template T
 * @param {string} url
 * @param {(client: Client) => Promise<T>} use
 */
export async function onDatabase(url, use) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
