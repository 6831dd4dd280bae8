import { beginningOf, type BatchFault, type Refusal } from '@millrace/contracts';
import { refusalOfGraph, unlistedNames, type FaultyGraph } from './faulty-graph';

/** Refused jobs of a batch that are listed; more are only counted. */
export const ITEM_FAULTS = 100;

/** Why one job of a batch is refused, as an answer lists it. */
export type ItemFault = BatchFault;

/** One of which the library of the account decides a part. Plain data: it comes from another thread. */
export interface UndecidedFault {
  index: number;
  graph: FaultyGraph;
}

/** Characters of a message that are kept: one names inputs of the caller's, which may be long. */
const MESSAGE_LENGTH = 1_000;

export function itemFaultOf(index: number, { code, message, details }: Refusal): ItemFault {
  return { index, code, message: beginningOf(message, MESSAGE_LENGTH), details: boundedDetails(details) };
}

/** Where an answer lists no details, because they are long, the library is not asked either: the message says what is wrong in any case. */
export function undecidedFaultOf(index: number, graph: FaultyGraph): UndecidedFault | ItemFault {
  if (boundedDetails({ node_errors: graph.nodeErrors }) !== null) return { index, graph };
  const refusal = refusalOfGraph(graph, new Set(unlistedNames([graph])));
  return { ...itemFaultOf(index, refusal), details: null };
}

/** @param known names of models that the library has. */
export function decidedFaultOf({ index, graph }: UndecidedFault, known: ReadonlySet<string>): ItemFault {
  return itemFaultOf(index, refusalOfGraph(graph, known));
}

/** Details that are themselves long lists are left to the estimate of the one job. */
const DETAILS_LENGTH = 4_000;

function boundedDetails(details: Record<string, unknown> | undefined): Record<string, unknown> | null {
  if (details === undefined) return null;
  return JSON.stringify(details).length > DETAILS_LENGTH ? null : details;
}
