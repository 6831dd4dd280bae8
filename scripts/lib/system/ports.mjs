import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { Failure } from '../command/index.mjs';

/** Below the range from which kernels give out ports by themselves, so that no outgoing connection sits on one. */
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;
const TRIES = 200;

/** Ports this process has given out: a service that restarts must find its own free. */
const given = new Set();

/**
 * A free port of this machine.
 *
 * @param {number} [preferred] taken when it is free, so that addresses survive a restart
 * @returns {Promise<number>}
 */
export async function freePort(preferred) {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = attempt === 0 && preferred ? preferred : randomInt(FIRST_PORT, LAST_PORT + 1);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Failure(`No free port was found between ${FIRST_PORT} and ${LAST_PORT}; end some programs and try again.`);
}

/**
 * The port that was asked for, or a free one for 0.
 *
 * @param {number} wanted
 * @param {string} flag the option that names it
 * @param {number} [preferred]
 * @throws {Failure} when it is taken
 */
export async function choosePort(wanted, flag, preferred) {
  if (wanted === 0) return freePort(preferred);
  if (given.has(wanted) || !(await isFree(wanted))) {
    throw new Failure(`Port ${wanted} is already in use: choose another with ${flag} N, or a free one with ${flag} 0.`);
  }
  given.add(wanted);
  return wanted;
}

/**
 * Free on every address, for both kinds of listener: a listener on one address does not show on the other everywhere.
 *
 * @param {number} port
 */
async function isFree(port) {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, undefined));
}

/**
 * @param {number} port
 * @param {string | undefined} host
 * @returns {Promise<boolean>}
 */
function canListen(port, host) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'EACCES') reject(new Failure(`Port ${port} needs more rights: choose one above 1023.`));
      else resolve(false);
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
