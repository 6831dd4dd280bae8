import { randomUUID } from 'node:crypto';
import { makeAccounts } from '../lib/accounts.mjs';
import { openClient, submission } from '../lib/http.mjs';

/** Beside the title of a node. */
const REST_BYTES = 1_000;

/** @type {() => Promise<void>} */
let submitOne;
/** @type {Promise<void> | undefined} */
let submitting;
let over = false;
let accepted = 0;

/** @param {import('../lib/accounts.mjs').Stack & { graphBytes: number }} stack */
export async function prepare({ graphBytes, ...stack }) {
  const [account] = await makeAccounts(stack, 1);
  const send = openClient(stack.publicUrl, 1);
  const body = JSON.stringify({
    workflow: {
      1: {
        class_type: 'PrimitiveString',
        inputs: { value: 'ok' },
        _meta: { title: 'x'.repeat(graphBytes - REST_BYTES) },
      },
      2: { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    },
  });
  submitOne = async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const { status, text } = await send({ ...submission(account?.key ?? '', body), headers });
    if (status === 201) accepted += 1;
    else if (status !== 429) throw new Error(`a large graph was refused: ${status} ${text.slice(0, 200)}`);
  };
}

/** Submit large graphs, one after the other, until `end`. */
export function begin() {
  over = false;
  accepted = 0;
  submitting = (async () => {
    while (!over) await submitOne();
  })();
}

/** @returns {Promise<number>} graphs that were accepted since `begin` */
export async function end() {
  over = true;
  await submitting;
  return accepted;
}
