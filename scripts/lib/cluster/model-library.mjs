import { createHash } from 'node:crypto';
import { Failure } from '../command/index.mjs';

/** @typedef {import('./service.mjs').InstalledService} InstalledService */
/** @typedef {{ id: string, hash: string, upload: { parts: { url: string }[] } }} Model */

/**
 * A file of weights as small as one can be, with a body that is of no use.
 *
 * @param {string} seed those of two seeds differ
 * @param {number} sizeBytes of the body
 * @returns {Buffer}
 */
export function weightsOf(seed, sizeBytes) {
  const tensor = { dtype: 'U8', shape: [sizeBytes], data_offsets: [0, sizeBytes] };
  const header = Buffer.from(JSON.stringify({ 'model.diffusion_model.weight': tensor }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.alloc(sizeBytes, createHash('sha256').update(seed).digest())]);
}

/**
 * Bring a model to the library of the account, as its owner does.
 *
 * @param {InstalledService} service
 * @param {string} name below `checkpoints`
 * @param {Buffer} content
 * @returns {Promise<Model>}
 */
export async function addModel(service, name, content) {
  const draft = { folder: 'checkpoints', name, size_bytes: content.length };
  const { id, upload } = /** @type {Model} */ (await service.send('POST', '/platform/v1/models', draft));
  const [part] = upload.parts;
  const headers = { 'content-type': 'application/octet-stream' };
  const sent = await fetch(part?.url ?? '', { method: 'PUT', headers, body: new Uint8Array(content) });
  if (!sent.ok) throw new Failure(`The store answered ${sent.status} to a part of a model.`);
  return /** @type {Promise<Model>} */ (service.send('POST', `/platform/v1/models/${id}/complete`));
}

/**
 * @param {string} name of a model
 * @returns {object} a graph that loads it and says what was in it
 */
export function graphOfModel(name) {
  return {
    1: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: name } },
    2: { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
  };
}
