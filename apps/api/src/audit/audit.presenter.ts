import type { z } from 'zod';
import type { AuditEntry } from '@millrace/accounts';
import { csvRows } from '@millrace/billing';
import type { EXPORT_FORMATS, OwnAuditEntrySchema } from './audit.endpoints';

type View = z.output<typeof OwnAuditEntrySchema>;

export function presentOwnEntry(entry: AuditEntry): View {
  return {
    id: entry.id,
    at: entry.at.toISOString(),
    actor: entry.actor,
    action: entry.action,
    subject_type: entry.subjectType,
    subject_id: entry.subjectId,
    address: entry.address,
    reason: entry.reason ?? null,
    details: entry.details,
  };
}

const COLUMNS = [
  'id',
  'at',
  'actor',
  'action',
  'subject_type',
  'subject_id',
  'address',
  'reason',
  'details',
] as const satisfies readonly (keyof View)[];

/** How the text of an export is made: its type, what it begins with, and the text of a page of entries. */
interface Format {
  type: string;
  begin: string;
  text(entries: readonly AuditEntry[]): string;
}

export const FORMATS: Record<(typeof EXPORT_FORMATS)[number], Format> = {
  ndjson: {
    type: 'application/x-ndjson',
    begin: '',
    text: (entries) => entries.map((entry) => `${JSON.stringify(presentOwnEntry(entry))}\n`).join(''),
  },
  csv: {
    type: 'text/csv; charset=utf-8',
    begin: csvRows([COLUMNS]),
    text: (entries) => csvRows(entries.map(rowOf)),
  },
};

/** The texts of an export. Its begin comes with the first page, so that nothing is sent before that has been read. */
export async function* textsOf(format: Format, pages: AsyncIterable<AuditEntry[]>): AsyncGenerator<string> {
  let before = format.begin;
  for await (const entries of pages) {
    yield before + format.text(entries);
    before = '';
  }
  if (before !== '') yield before;
}

function rowOf(entry: AuditEntry): (string | null)[] {
  const view = presentOwnEntry(entry);
  return COLUMNS.map((column) => (column === 'details' ? JSON.stringify(view.details) : view[column]));
}
