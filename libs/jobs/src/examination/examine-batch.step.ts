import { Refusal, type NodeCatalogue } from '@millrace/contracts';
import { textOfRow, type GraphTemplate } from '@millrace/workflow';
import { examineSubmission, type ExaminedJob } from './examine-submission.step';
import { isFaulty, type FaultyGraph } from './faulty-graph';
import { ITEM_FAULTS, itemFaultOf, undecidedFaultOf, type ItemFault, type UndecidedFault } from './item-fault';
import type { RequestedBatch } from './read-batch.step';

/** A job of a batch that passed every check but those of the database. */
export interface ExaminedItem extends Omit<ExaminedJob, 'workflow' | 'extraData' | 'exact'> {
  index: number;
  /** Its graph, or its row in the batch's template. */
  graph: string | number[];
  graphBytes: number;
}

/** Some jobs of a batch in their order, examined. Plain data: it comes from another thread. */
export interface ExaminedSlice {
  items: ExaminedItem[];
  faults: ItemFault[];
  /** Jobs that were refused; `faults` has the first of them, in their order. */
  faultCount: number;
  /** Of all of them, those that were refused too: they took as long to examine. */
  graphBytes: number;
  /** Of the job that the next slice begins with. */
  next: number;
}

/** A slice before the library of the account was asked about models. */
export interface UndecidedSlice extends ExaminedSlice {
  /** Refused jobs of which it decides a part of the reasons; with `faults` no more than an answer lists. */
  undecided: UndecidedFault[];
}

/**
 * Examine the jobs of a batch from one on, for a time: a batch takes seconds, and the submissions of others have their turn between
 * its slices.
 *
 * @throws Refusal where the text is no JSON.
 */
export function examineSlice(
  requested: Omit<RequestedBatch, 'admission'>,
  catalogue: NodeCatalogue,
  from: number,
  sliceMs: number,
): UndecidedSlice {
  const until = performance.now() + sliceMs;
  const slice: UndecidedSlice = { items: [], faults: [], undecided: [], faultCount: 0, graphBytes: 0, next: from };
  do {
    const index = slice.next;
    slice.next += 1;
    try {
      const item = examineItem(requested, catalogue, index);
      if (isFaulty(item)) {
        refuse(slice, requested.bytesAt(index), () => undecidedFaultOf(index, item));
        continue;
      }
      slice.graphBytes += item.graphBytes;
      slice.items.push(item);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status === 400) throw error;
      refuse(slice, requested.bytesAt(index), () => itemFaultOf(index, error));
    }
  } while (slice.next < requested.count && performance.now() < until);
  return slice;
}

function refuse(slice: UndecidedSlice, graphBytes: number, why: () => ItemFault | UndecidedFault): void {
  slice.graphBytes += graphBytes;
  slice.faultCount += 1;
  if (slice.faults.length + slice.undecided.length >= ITEM_FAULTS) return;
  const fault = why();
  if ('graph' in fault) slice.undecided.push(fault);
  else slice.faults.push(fault);
}

function examineItem(
  requested: Omit<RequestedBatch, 'admission'>,
  catalogue: NodeCatalogue,
  index: number,
): ExaminedItem | FaultyGraph {
  const { row, ...job } = requested.jobAt(index);
  const found = examineSubmission(job, catalogue);
  if (isFaulty(found)) return found;
  const { workflow, extraData: _, exact: __, ...examined } = found;
  const text = row === null || requested.template === null ? workflow : textOfRow(requested.template, row);
  return { ...examined, index, graph: row ?? text, graphBytes: Buffer.byteLength(text) };
}

/** The text of a job's graph. @param template of its batch. */
export function graphTextOf({ graph }: Pick<ExaminedItem, 'graph'>, template: GraphTemplate | null): string {
  if (typeof graph === 'string') return graph;
  if (template === null) throw new Error('a row has no text without a template');
  return textOfRow(template, graph);
}
