import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundleOwnCode } from '../setup/index.mjs';
import { makeFolder, writeWhole } from '../system/index.mjs';
import { baseImage, buildah } from './base-image.mjs';
import { CLUSTER } from './places.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

/** What stands in for an image with ComfyUI: the simulator of the tests, where ComfyUI's code would be, and Debian's Python for probes. */
export const COMFYUI_IMAGE = 'millrace.test/comfyui:1';
export const COMFYUI_COMMAND = ['node', '/comfyui/main.js'];
const SIMULATOR = 'libs/testing/src/comfyui-simulator/main.js';

/**
 * An image for the ComfyUI beside a worker. The real one is built on an image with CUDA, which no package has.
 *
 * @param {Scope} scope
 * @param {string[]} flags of every build
 */
export async function buildComfyuiImage(scope, flags) {
  const folder = join(CLUSTER, 'comfyui');
  try {
    makeFolder(folder);
    await bundleOwnCode(SIMULATOR, join(folder, 'main.js'));
    const lines = [
      `FROM ${baseImage()}`,
      'RUN apt-get update && apt-get install --yes --no-install-recommends python3 python-is-python3 && rm -rf /var/lib/apt/lists/*',
      'COPY main.js /comfyui/main.js',
      'USER 1000:1000',
      'WORKDIR /comfyui',
    ];
    writeWhole(join(folder, 'Dockerfile'), `${lines.join('\n')}\n`);
    await buildah(scope, ['bud', ...flags, ...['--file', join(folder, 'Dockerfile'), '--tag', COMFYUI_IMAGE, folder]]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
