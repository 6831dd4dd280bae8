import { createHash } from 'node:crypto';

/** The pool that a stack's submissions go to. */
export const POOL = 'default';
export const NODES = 20;

/** Twenty nodes and about five kilobytes, as a submission of a small real workflow has them. */
export const GRAPH = JSON.stringify({
  1: { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: 1 } },
  ...Object.fromEntries(
    Array.from({ length: NODES - 2 }, (_, index) => [
      String(index + 2),
      {
        class_type: 'ImageInvert',
        inputs: { image: [String(index + 1), 0] },
        _meta: { title: `Inverted ${index} `.padEnd(160, 'x') },
      },
    ]),
  ),
  [NODES]: { class_type: 'SaveImage', inputs: { images: [String(NODES - 1), 0], filename_prefix: 'bench' } },
});
export const METADATA = { label: 'bench' };
/** The body of `POST /jobs`. */
export const BODY = `{"workflow":${GRAPH},"metadata":${JSON.stringify(METADATA)}}`;

/**
 * Let the pool be one whose workers have published what they run and have gone: it accepts the graph, and nothing starts.
 *
 * @param {Pick<import('pg').Pool, 'query'>} database
 */
export async function plantPool(database) {
  const document = JSON.stringify(catalogue());
  const digest = createHash('sha256').update(document).digest('hex');
  await database.query(
    `INSERT INTO catalogues (digest, engine, node_count, document) VALUES ($1, 'cpu', 3, $2) ON CONFLICT DO NOTHING`,
    [digest, document],
  );
  await database.query(
    `INSERT INTO pools (id, engine, catalogue_digest) VALUES ($1, 'cpu', $2)
     ON CONFLICT (id) DO UPDATE SET catalogue_digest = excluded.catalogue_digest`,
    [POOL, digest],
  );
}

/** What the nodes of the graph are. */
function catalogue() {
  const image = { type: 'IMAGE', required: true, linkOnly: true };
  const integer = { type: 'INT', required: true };
  const node = { displayName: '', category: '', description: '', outputs: [{ type: 'IMAGE', name: '', list: false }] };
  return {
    EmptyImage: {
      ...node,
      inputs: { width: integer, height: integer, batch_size: integer, color: integer },
      outputNode: false,
    },
    ImageInvert: { ...node, inputs: { image }, outputNode: false },
    SaveImage: {
      ...node,
      inputs: { images: image, filename_prefix: { type: 'STRING', required: true } },
      outputs: [],
      outputNode: true,
    },
  };
}
