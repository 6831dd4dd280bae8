import { Refusal, type NodeCatalogue } from '@millrace/contracts';
import { textOfRow, type GraphTemplate } from '@millrace/workflow';
import { examineSubmission, type ExaminedJob } from './examine-submission.step';
import type { RequestedBatch } from './read-batch.step';
import { ITEM_FAULTS, itemFaultOf, type ItemFault } from './item-fault';

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
  /** Jobs that were refused; `faults` has the first of them. */
  faultCount: number;
  /** Of all of them, those that were refused too: they took as long to examine. */
  graphBytes: number;
  /** Of the job that the next slice begins with. */
  next: number;
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
): ExaminedSlice {
  const until = performance.now() + sliceMs;
  const slice: ExaminedSlice = { items: [], faults: [], faultCount: 0, graphBytes: 0, next: from };
  do {
    const index = slice.next;
    slice.next += 1;
    try {
      const item = examineItem(requested, catalogue, index);
      slice.graphBytes += item.graphBytes;
      slice.items.push(item);
    } catch (error) {
      if (!(error instanceof Refusal) || error.status === 400) throw error;
      slice.graphBytes += requested.bytesAt(index);
      slice.faultCount += 1;
      if (slice.faults.length < ITEM_FAULTS) slice.faults.push(itemFaultOf(index, error));
    }
  } while (slice.next < requested.count && performance.now() < until);
  return slice;
}

function examineItem(
  requested: Omit<RequestedBatch, 'admission'>,
  catalogue: NodeCatalogue,
  index: number,
): ExaminedItem {
  const { row, ...job } = requested.jobAt(index);
  const { workflow, extraData: _, exact: __, ...examined } = examineSubmission(job, catalogue);
  const text = row === null || requested.template === null ? workflow : textOfRow(requested.template, row);
  return { ...examined, index, graph: row ?? text, graphBytes: Buffer.byteLength(text) };
}

/** The text of a job's graph. @param template of its batch. */
export function graphTextOf({ graph }: Pick<ExaminedItem, 'graph'>, template: GraphTemplate | null): string {
  if (typeof graph === 'string') return graph;
  if (template === null) throw new Error('a row has no text without a template');
  return textOfRow(template, graph);
}
