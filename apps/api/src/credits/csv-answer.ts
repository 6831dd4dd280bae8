import type { Request, Response } from 'express';

/** True when a client asks for CSV and not, as a browser does, for anything. */
export function wantsCsv(request: Request): boolean {
  return request.accepts(['application/json', 'text/csv']) === 'text/csv';
}

/** What a table is sent as. */
export const CSV_TYPE = 'text/csv; charset=utf-8';

/** Make a table the answer: a handler that returns text has it sent as it is. */
export function asCsv(response: Response, text: string): string {
  response.type(CSV_TYPE);
  return text;
}
