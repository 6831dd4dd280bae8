import { Failure } from '../command/index.mjs';
import { call } from './call.mjs';

/** @typedef {import('../stack/stack.mjs').RunFile} RunFile */
/** @typedef {{ id: string, upload: { parts: { url: string }[] } }} Begun */

const TENSORS = { lora: 'lora_unet_down.lora_down.weight', diffusion: 'double_blocks.0.weight' };

/**
 * Two models that are ready, and one whose upload was never completed.
 *
 * @param {RunFile} run
 */
export async function plantModels(run) {
  await uploaded(
    run,
    { folder: 'diffusion_models', name: 'flux/base.safetensors', licence: 'apache-2.0' },
    TENSORS.diffusion,
  );
  await uploaded(run, { folder: 'loras', name: 'watercolour.safetensors', licence: 'openrail++' }, TENSORS.lora);
  await call(run, 'POST', '/platform/v1/models', { folder: 'vae', name: 'fine.safetensors', size_bytes: 334_641_162 });
}

/**
 * @param {RunFile} run
 * @param {{ folder: string, name: string, licence: string }} fields
 * @param {string} tensor
 */
async function uploaded(run, fields, tensor) {
  const header = JSON.stringify({ [tensor]: { dtype: 'F16', shape: [4], data_offsets: [0, 8] } });
  const file = Buffer.alloc(8 + header.length + 8);
  file.writeBigUInt64LE(BigInt(header.length));
  file.write(header, 8);
  const body = { ...fields, size_bytes: file.length };
  const { id, upload } = /** @type {Begun} */ (await call(run, 'POST', '/platform/v1/models', body));
  const sent = await fetch(new URL(upload.parts[0]?.url ?? '', run.publicUrl), {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: file,
  });
  if (!sent.ok) throw new Failure(`a part was answered ${sent.status}`);
  await call(run, 'POST', `/platform/v1/models/${id}/complete`);
}
