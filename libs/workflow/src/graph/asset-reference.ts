import { assetObjectOf, isAssetObject } from './asset-object';
import { members, type JsonNode } from '../json';
import type { WorkflowGraph } from './workflow';

/** Where a graph refers to an asset; `start` and `end` are offsets into the graph's `text`. */
interface AssetPlace {
  nodeId: string;
  /** The input that holds it, or the key of the node; empty for a node that is itself such an object. */
  field: string;
  start: number;
  end: number;
}

export interface AssetReference extends AssetPlace {
  /** The asset's id, a UUID in lower case. */
  id: string;
  /** Hints of the client's own, where given. */
  hash?: string;
  filePath?: string;
}

/** An object of type `core/ASSET` without an `info.id` that is a UUID: it can name no asset, hence 422 `missing_asset`. */
export type MalformedAssetReference = AssetPlace;

export interface AssetReferences {
  /** Values of inputs, and parts of them: the run has the name of a file in the place of each. */
  references: AssetReference[];
  /**
   * All others: in another key of a node, such as `_meta`, or inside another reference. A run reads none of them, and their
   * assets have to exist all the same (contract, section 4.1).
   */
  mentions: AssetReference[];
  /** The first of them, wherever they are. */
  malformed: MalformedAssetReference[];
  malformedCount: number;
}

/** Malformed references that are kept. More are only counted: a body may hold tens of thousands. */
const KEPT_MALFORMED = 1_000;

/** Every `core/ASSET` object at any depth of any node, each kind in the order of nodes, keys, inputs and text. */
export function assetReferences(graph: WorkflowGraph): AssetReferences {
  const found: AssetReferences = { references: [], mentions: [], malformed: [], malformedCount: 0 };
  for (const [nodeId, node] of members(graph.root)) {
    note(node, { nodeId, field: '' }, found.mentions, found);
    for (const [field, value] of members(node)) {
      if (field !== 'inputs') collect(value, { nodeId, field }, found.mentions, found);
      else note(value, { nodeId, field }, found.mentions, found);
    }
    for (const [field, value] of graph.nodes.get(nodeId)?.inputs ?? []) {
      collect(value, { nodeId, field }, found.references, found);
    }
  }
  return found;
}

type Owner = Pick<AssetPlace, 'nodeId' | 'field'>;

/** Recursion is bounded by the depth that the parser allows. @param list where a reference goes; what is inside of one is a mention. */
function collect(value: JsonNode, owner: Owner, list: AssetReference[], found: AssetReferences): void {
  if (value.kind === 'array') {
    for (const item of value.items) collect(item, owner, list, found);
  } else if (value.kind === 'object') {
    const within = note(value, owner, list, found) ? found.mentions : list;
    for (const inner of members(value).values()) collect(inner, owner, within, found);
  }
}

/** @returns whether the value is a reference; what is inside of it is not looked at. */
function note(value: JsonNode, owner: Owner, list: AssetReference[], found: AssetReferences): boolean {
  if (!isAssetObject(value)) return false;
  const { id, ...hints } = assetObjectOf(value);
  const place = { ...owner, start: value.start, end: value.end };
  if (id !== null) list.push({ ...place, id, ...hints });
  else {
    found.malformedCount += 1;
    if (found.malformedCount <= KEPT_MALFORMED) found.malformed.push(place);
  }
  return true;
}
