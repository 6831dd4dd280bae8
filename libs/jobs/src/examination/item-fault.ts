import { beginningOf, type BatchFault, type Refusal } from '@millrace/contracts';

/** Refused jobs of a batch that are listed; more are only counted. */
export const ITEM_FAULTS = 100;

/** Why one job of a batch is refused, as an answer lists it. */
export type ItemFault = BatchFault;

/** Characters of a message that are kept: one names inputs of the caller's, which may be long. */
const MESSAGE_LENGTH = 1_000;

export function itemFaultOf(index: number, { code, message, details }: Refusal): ItemFault {
  return { index, code, message: beginningOf(message, MESSAGE_LENGTH), details: boundedDetails(details) };
}

/** Details that are themselves long lists are left to the estimate of the one job. */
const DETAILS_LENGTH = 4_000;

function boundedDetails(details: Record<string, unknown> | undefined): Record<string, unknown> | null {
  if (details === undefined) return null;
  return JSON.stringify(details).length > DETAILS_LENGTH ? null : details;
}
