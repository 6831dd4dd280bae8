import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, say } from '../command/index.mjs';
import { generateClient } from '../prisma/index.mjs';
import { prepareServers } from '../servers/index.mjs';
import { HOME, Lock, tryLock } from '../system/index.mjs';
import { build } from './build.mjs';
import { installPackages } from './packages.mjs';

const POLL_MS = 100;
/** No set-up takes longer. */
const LONGEST_MS = 30 * 60 * 1000;

/**
 * Bring the checkout to where its programs run: packages, database client, build. Commands that begin at the same time in
 * one checkout take turns.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {NodeJS.ProcessEnv} [env] of a stack to be started: what the machine must have for it is seen to first, because
 *   the packages take a minute
 */
export async function setUp(scope, env) {
  const lock = await waitForLock(scope);
  const release = scope.defer(() => lock.release());
  try {
    if (env) await prepareServers(scope, env);
    await installPackages(scope, lock);
    await generateClient(scope);
    await build(scope);
  } finally {
    // Also after a failure: a command that goes on sets up again.
    await release();
  }
}

/** @param {import('../command/scope.mjs').Scope} scope */
async function waitForLock(scope) {
  const path = join(HOME, 'setup.lock');
  for (let announced = false; ; announced = true) {
    const held = await tryLock(path);
    if (held instanceof Lock) return held;
    const where = held.host === undefined ? '' : ` on ${held.host}; if it runs no longer, remove ${path}`;
    const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (held.host !== undefined && Date.now() - mtimeMs > LONGEST_MS) {
      throw new Failure(`A set-up that began more than half an hour ago holds ${path} (pid ${held.pid}${where}).`);
    }
    if (!announced) say(`  Waiting for another command's set-up (pid ${held.pid}${where}) …`);
    await scope.pause(POLL_MS);
  }
}
