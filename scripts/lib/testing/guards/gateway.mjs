import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const ATTEMPTS = 'libs/jobs/src/lifecycle/remote-attempt.store.ts';
const TOKENS = 'libs/deployments/src/tokens/worker-token.store.ts';
const MODELS = ['apps/gateway/src/models.int-spec'];
const REMOTE = ['apps/gateway/src/gateway.int-spec'];
const BODIES = ['apps/gateway/src/bodies.int-spec'];
const UNDER_WAY = ['apps/gateway/src/under-way.int-spec'];
const PARTS = ['apps/gateway/src/part-bodies.int-spec'];

/** Of the gateway: what a worker outside the cluster may see and do. @type {Guard[]} */
export const GATEWAY_GUARDS = [
  of(
    'a worker claims nothing of another pool',
    'libs/jobs/src/lifecycle/claim.store.ts',
    'AND (${poolId ?? null}::text IS NULL OR j.pool_id = ${poolId ?? null})',
    '',
    REMOTE,
  ),
  of(
    'a claim is answered again to the worker that made it alone',
    'libs/jobs/src/lifecycle/claim.store.ts',
    'AND j.worker_id = ${workerId}::uuid AND j.lease_token',
    'AND j.lease_token',
    REMOTE,
  ),
  of(
    'a claim is answered again only while its lease holds',
    'libs/jobs/src/lifecycle/claim.store.ts',
    "AND j.delivery = 'leased' AND j.lease_expires_at > now()\n",
    "AND j.delivery = 'leased'\n",
    REMOTE,
  ),
  of('a forged fence opens nothing', ATTEMPTS, '${holdsFence(fence)}', 'j.id = ${fence.jobId}::uuid', REMOTE),
  of('an attempt is shown to the token that holds it', ATTEMPTS, ' AND w.token_id = ${tokenId}::uuid', '', REMOTE),
  of(
    'a worker reads the inputs of its job alone',
    'apps/gateway/src/attempts/bytes.controller.ts',
    'if (await this.attempts.hasInput(held.jobId, assetId)) return held;',
    'return held;',
    REMOTE,
  ),
  of(
    'what was sent for one attempt is not recorded of another',
    'apps/gateway/src/attempts/output-receipts.ts',
    'return [kind, jobId, String(attempt), leaseToken];',
    'return [kind];',
    REMOTE,
  ),
  of(
    'bytes from outside are hashed before they count',
    'libs/assets/src/upload/output-uploads.service.ts',
    'if (bytes.hash !== hash) {',
    'if (bytes.hash === "") {',
    REMOTE,
  ),
  of('a revoked token is refused', TOKENS, 'revoked_at IS NULL AND (expires_at', '(expires_at', REMOTE),
  of('a token that has expired is refused', TOKENS, ' AND (expires_at IS NULL OR expires_at > now())', '', REMOTE),
  of('a token has no more workers than it may', TOKENS, 'AND ${limit} > (', 'AND 0 <= (', REMOTE),
  of(
    'a token has no more workers than it may where silent ones come back',
    TOKENS,
    'return (others?.live ?? 0) < limit;',
    'return (others?.live ?? 0) >= 0;',
    REMOTE,
  ),
  of(
    'a worker that has stopped, or is silent, asks for no work',
    'apps/gateway/src/workers/messages.controller.ts',
    'await this.tokens.assertLiveWorker(holder, id);\n    const message',
    'await this.tokens.assertWorker(holder, id);\n    const message',
    REMOTE,
  ),
  of(
    'workers of a token have no more connections to lanes than it may have workers',
    'apps/gateway/src/lanes/worker-lanes.ts',
    '+ closing.length >= this.lanesPerToken',
    '+ closing.length < 0',
    ['apps/gateway/src/lanes/worker-lanes.spec'],
  ),
  of(
    'a worker offers no attempt to its pool that does not wait there',
    'apps/gateway/src/lanes/worker-lanes.ts',
    'if (isOffered) await this.access.leave(poolId, message);',
    'await this.access.leave(poolId, message);',
    ['apps/gateway/src/lanes/worker-lanes.spec'],
  ),
  of(
    'a worker acts for itself, not for its neighbour',
    TOKENS,
    'WHERE id = ${workerId}::uuid AND token_id = ${tokenId}::uuid AND pool_id',
    'WHERE id = ${workerId}::uuid AND pool_id',
    REMOTE,
  ),
  of(
    'a worker outside is shown models of names in its graph alone',
    'apps/gateway/src/attempts/model-request.ts',
    'names.filter((name) => allowed.has(name));',
    'names.filter(() => allowed.size >= 0);',
    MODELS,
  ),
  of(
    'a worker outside is shown a model in the folder that its deployment names',
    'apps/gateway/src/attempts/deployment-models.controller.ts',
    'return files.filter((file) => inGraph.has(file.name) || isListed(file));',
    'return files.filter((file) => inGraph.size >= 0 || isListed(file));',
    MODELS,
  ),
  of(
    'a catalogue is read only of a worker that joined with the token',
    'apps/gateway/src/workers/workers.controller.ts',
    'await this.tokens.assertWorker(holder, id);\n    return body.use(',
    'return body.use(',
    BODIES,
  ),
  of(
    'bodies that a gateway has in memory are counted',
    'apps/gateway/src/http/request-body.ts',
    'if (bytes > UNCOUNTED_BYTES && bytes > this.heldBytes) this.take(',
    'if (bytes < 0) this.take(',
    BODIES,
  ),
  of(
    'requests of a token that are under way are few',
    'apps/gateway/src/http/requests-under-way.ts',
    'if (count >= most) {',
    'if (count < 0) {',
    UNDER_WAY,
  ),
  of(
    'a graph that its worker does not read counts for its token',
    'apps/gateway/src/http/open-gateway.ts',
    'RequestBody.of(response.req).hold(Buffer.byteLength(text));',
    '',
    UNDER_WAY,
  ),
  of(
    'a worker that takes nothing of its answer is cut off',
    'apps/gateway/src/http/open-gateway.ts',
    'this.connections.watch(server);',
    '',
    UNDER_WAY,
  ),
  of(
    'parts that a store has in memory are counted',
    'apps/gateway/src/attempts/bytes.controller.ts',
    'if (this.uploads.holdsParts) body.take(part.sizeBytes);',
    '',
    PARTS,
  ),
];
