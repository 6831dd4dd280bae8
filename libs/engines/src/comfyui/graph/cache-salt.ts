import { createHash } from 'node:crypto';
import type { NodeClass } from '@millrace/contracts';

/**
 * An input that no class declares is not passed to the node, but is part of the key under which ComfyUI caches its
 * result. One name for both salts: a node carries at most one.
 */
export const SALT_INPUT = 'millrace_salt';

/** Types of what loaders load: weights that the operator installed, the same for everybody. */
const MODEL_TYPES = new Set(
  [
    'AUDIO_ENCODER BACKGROUND_REMOVAL CLIP CLIP_VISION CONTROL_NET DA3_MODEL FACE_DETECTION_MODEL GLIGEN INTERP_MODEL',
    'LATENT_UPSCALE_MODEL LORA_MODEL MODEL MODEL_PATCH MOGE_MODEL PHOTOMAKER STYLE_MODEL UPSCALE_MODEL VAE',
  ].flatMap((names) => names.split(' ')),
);

/** What the salting of one node depends on. */
export interface SaltedNode {
  nodeClass: NodeClass;
  /** Nodes that this one's links point at. */
  ancestors: string[];
  /** It must run in every run: it reports, and a cached node reports old files or nothing. */
  everyRun: boolean;
  /** It carries a text of this run alone already. */
  isUnique: boolean;
  /** What distinguishes the contents of the models that were lent to the run and that it may load; empty for none. */
  lent: string;
}

/**
 * Which nodes carry a salt, and which. Every result is kept apart by `cacheScope`, except loaded models: nodes that give
 * only models, made of nothing but such, are shared by all scopes, because a checkpoint is no one's result and loading it
 * again costs seconds. A node that may load a model which was lent to the run is shared by those that have been lent the same content:
 * to others its name means another, or nothing. Nodes that report run in every run.
 *
 * @param nodes in an order in which each stands after its ancestors
 */
export function saltsOf(
  nodes: ReadonlyMap<string, SaltedNode>,
  cacheScope: string,
  runId: string,
): ReadonlyMap<string, string> {
  // The graph is kept in ComfyUI's history: the scope's own name is nobody's business there.
  const scopeSalt = saltOf(cacheScope);
  const salts = new Map<string, string>();
  const shared = new Set<string>();
  for (const [id, { nodeClass, ancestors, everyRun, isUnique, lent }] of nodes) {
    if (everyRun) {
      if (!isUnique) salts.set(id, `${runId} ${id}`);
    } else if (givesModelsOnly(nodeClass) && ancestors.every((ancestor) => shared.has(ancestor))) {
      shared.add(id);
      if (lent !== '') salts.set(id, saltOf(lent));
    } else if (lent !== '') salts.set(id, saltOf(`${cacheScope} ${lent}`));
    else if (ancestors.every((ancestor) => shared.has(ancestor))) salts.set(id, scopeSalt);
  }
  return salts;
}

function saltOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Whether a type of inputs and outputs is one of loaded models. */
export function isModelType(type: string): boolean {
  return MODEL_TYPES.has(type);
}

/** Whether a node gives a loaded model, beside other things or alone. */
export function givesModel({ outputs }: NodeClass): boolean {
  return outputs.some(({ type }) => isModelType(type));
}

function givesModelsOnly({ outputs, inputs }: NodeClass): boolean {
  return (
    outputs.length > 0 &&
    outputs.every(({ type }) => isModelType(type)) &&
    Object.values(inputs).every(({ file }) => file === undefined)
  );
}
