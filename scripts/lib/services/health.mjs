const TIMEOUT_MS = 2_000;

/**
 * Whether the process on an ops port is the one that was started, and ready for work.
 *
 * @param {number} opsPort
 * @param {number} pid
 * @returns {Promise<boolean>}
 */
export async function isHealthy(opsPort, pid) {
  const live = await get(`http://127.0.0.1:${opsPort}/health/live`);
  if (!live) return false;
  const { pid: answering } = /** @type {{ pid?: unknown }} */ (await live.json().catch(() => ({})));
  if (answering !== pid) return false;
  const ready = await get(`http://127.0.0.1:${opsPort}/health/ready`);
  await ready?.arrayBuffer();
  return ready?.ok ?? false;
}

/**
 * Which checks of a process keep it from being ready, as `name: reason`; empty where it does not say.
 *
 * @param {number} opsPort
 * @returns {Promise<string>}
 */
export async function readiness(opsPort) {
  const response = await get(`http://127.0.0.1:${opsPort}/health/ready`);
  const body = /** @type {{ error?: Record<string, { message?: string }> }} */ (
    await response?.json().catch(() => ({}))
  );
  const failed = Object.entries(body?.error ?? {});
  return failed.map(([name, { message = 'down' }]) => `${name}: ${message}`).join('; ');
}

/**
 * Whether an address answers a plain request with success.
 *
 * @param {string} url
 */
export async function answers(url) {
  // A server that is stopped gives connections that stay open time to be left: the API two seconds.
  const response = await get(url, { connection: 'close' });
  // Read to its end: a body that is not read, or canceled, keeps its connection open for seconds, and the server's end waits for it.
  await response?.arrayBuffer();
  return response?.ok ?? false;
}

/**
 * @param {string} url
 * @param {Record<string, string>} [headers]
 */
async function get(url, headers) {
  try {
    return await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch {
    return undefined;
  }
}
