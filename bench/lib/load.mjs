import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../scripts/lib/command/index.mjs';

const HOST = fileURLToPath(new URL('./load-host.mjs', import.meta.url));

/** @typedef {import('./load-host.mjs').LoadAnswer} LoadAnswer */

/**
 * Start a load generator: a process that does nothing but call the functions of one module. It ends with the scope.
 *
 * @param {import('../../scripts/lib/command/scope.mjs').Scope} scope
 * @param {string} file
 * @returns {Promise<import('./bench.js').Load>}
 */
export async function startLoad(scope, file) {
  const child = fork(HOST, [file], { stdio: 'inherit' });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  scope.defer(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const gone = exited.then(() => {
    throw new Failure(`The load generator ${file} ended.`);
  });
  gone.catch(() => undefined);
  let calls = 0;
  return {
    async call(name, input) {
      scope.check();
      const id = ++calls;
      const answered = new Promise((/** @type {(answer: LoadAnswer) => void} */ resolve) => {
        const receive = (/** @type {unknown} */ message) => {
          const answer = /** @type {LoadAnswer} */ (message);
          if (answer.id !== id) return;
          child.off('message', receive);
          resolve(answer);
        };
        child.on('message', receive);
      });
      child.send({ id, name, input });
      const { result, failure } = await Promise.race([answered, gone]);
      if (failure !== undefined) throw new Failure(failure);
      return /** @type {any} */ (result);
    },
  };
}
