import { Refusal } from '@millrace/contracts';
import { isStatementTimeout } from '@millrace/database';

/**
 * Read sums over a span of time. The same span takes as long the next time, so a read that did not end in the time of a statement is refused with
 * what its caller can do.
 *
 * @param what is summed, for the refusal.
 * @throws Refusal `invalid_request` (400) that names `from`; what `read` throws.
 */
export async function inTime<T>(read: () => Promise<T>, what: string): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    const reason =
      `is too long before \`to\`: the ${what} of this span could not be summed in the time that the service gives it ` +
      '(MILLRACE_DATABASE_TIMEOUT_MS). Ask for parts of it, such as half of it, with `from` and `to`';
    throw Refusal.ofFields([{ field: 'from', reason }], 400);
  }
}
