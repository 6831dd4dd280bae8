import { call } from './call.mjs';

/** @typedef {import('../stack/stack.mjs').RunFile} RunFile */

const POLL_MS = 300;
const COLORS = [3368601, 16711680, 65280, 255, 16776960, 8421504];

/**
 * A batch of six swatches, one of which is smaller than its blur and fails.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {RunFile} run
 * @returns {Promise<string>} its id, when all its jobs have ended
 */
export async function plantBatch(scope, run) {
  const image = { width: 64, height: 64, batch_size: 1, color: 0 };
  const { id } = await call(run, 'POST', '/api/v2/batches', {
    workflow: {
      1: { class_type: 'EmptyImage', inputs: image },
      2: { class_type: 'ImageBlur', inputs: { image: ['1', 0], blur_radius: 20, sigma: 1 } },
      3: { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'swatch' } },
    },
    table: { '1.color': COLORS, '1.width': COLORS.map((_, at) => (at === 4 ? 16 : 64)) },
    metadata: { order: '4712' },
  });
  for (;;) {
    const { status } = await call(run, 'GET', `/api/v2/batches/${String(id)}`);
    if (status === 'completed') return String(id);
    await scope.pause(POLL_MS);
  }
}
