import { Refusal, type ExtraData, type JobMetadata, type NodeCatalogue } from '@millrace/contracts';
import {
  assetReferences,
  modelsOf,
  sliceOf,
  workOf,
  type AssetReference,
  type ExactWork,
  type UnlistedModel,
  type WorkflowGraph,
} from '@millrace/workflow';
import { exactWorkOf } from './exact-work';
import { isFaulty, type FaultyGraph } from './faulty-graph';
import type { RequestedJob } from './read-submission.step';
import { validateGraph } from './validate-workflow.step';
import { workDigestOf } from './work-key';

/** What a submission asks for, checked against everything but the database. Plain data: it may come from another thread. */
export interface ExaminedJob {
  /** The graph as submitted, character for character. */
  workflow: string;
  nodeCount: number;
  metadata: JobMetadata;
  extraData: ExtraData | null;
  /** Files of weights that it loads. */
  models: string[];
  /** Names the work that it asks for; see `workDigestOf`. */
  work: string;
  assets: ReferredAssets;
  /** Models that no engine's list has, and the account's library must. */
  unlistedModels: UnlistedModel[];
  /** What it asks for exactly; null where its submission does not ask for reuse. */
  exact: ExactWork | null;
}

/** The assets that a graph refers to. */
interface ReferredAssets {
  /** Those that its inputs name, which the run reads: each once, with the first place that names it. */
  named: AssetPlace[];
  /** Those that it names only elsewhere; see `assetReferences`. They are looked up, and not kept for the run. */
  mentioned: AssetPlace[];
  /** References that can name no asset: the first of them, and how many there are. */
  malformed: AssetPlace[];
  malformedCount: number;
}

/** A reference in the form in which a refusal lists it. */
export interface AssetPlace {
  node_id: string;
  field: string;
  asset_id: string | null;
}

/** Real graphs refer to a few; each is looked up, and most are a row, and a file that the worker fetches before the run. */
const MAX_ASSETS = 1_000;

/**
 * Check the graph of a submission against the nodes that its pool can run, and list what is still to be looked up.
 *
 * @param forReuse the submission may be answered with earlier outputs.
 * @returns what is wrong with a graph that is refused in any case, where the library of the account decides a part of it.
 * @throws Refusal `invalid_workflow`.
 */
export function examineSubmission(
  requested: RequestedJob,
  catalogue: NodeCatalogue,
  forReuse = false,
): ExaminedJob | FaultyGraph {
  const { graph, metadata, extraData } = requested;
  const validated = validateGraph(graph, catalogue);
  if (isFaulty(validated)) return validated;
  return {
    workflow: sliceOf(graph.root, graph.text),
    nodeCount: graph.nodes.size,
    metadata,
    extraData,
    models: modelsOf(graph, catalogue),
    work: workDigestOf(workOf(graph, catalogue)),
    assets: referredAssets(graph),
    unlistedModels: validated.unlistedModels,
    exact: forReuse ? exactWorkOf(graph, catalogue, extraData !== null) : null,
  };
}

function referredAssets(graph: WorkflowGraph): ReferredAssets {
  const { references, mentions, malformed, malformedCount } = assetReferences(graph);
  const named = firstPlaces(references);
  const mentioned = firstPlaces(mentions);
  for (const id of named.keys()) mentioned.delete(id);
  const count = named.size + mentioned.size;
  if (count > MAX_ASSETS) throw tooManyAssets(count);
  const places = malformed.map(({ nodeId, field }) => ({ node_id: nodeId, field, asset_id: null }));
  return { named: [...named.values()], mentioned: [...mentioned.values()], malformed: places, malformedCount };
}

/** Each asset by its id, with the first place that names it. */
function firstPlaces(references: readonly AssetReference[]): Map<string, AssetPlace> {
  const places = new Map<string, AssetPlace>();
  for (const { id, nodeId, field } of references) {
    if (!places.has(id)) places.set(id, { node_id: nodeId, field, asset_id: id });
  }
  return places;
}

function tooManyAssets(count: number): Refusal {
  const message = `The workflow refers to ${count} assets; at most ${MAX_ASSETS} are accepted.`;
  return new Refusal('invalid_workflow', message, {
    details: { node_errors: { '': [{ field: '', reason: 'above_max', message }] } },
  });
}
