import { type CliFailure, EXIT, type ExitCode, failureOf } from '../process';
import { failureJson, failureLines, plainLine } from '../terminal';
import type { CommandContext } from './command-context';

/** What a command does with each of several things, and what it prints of it. */
export interface InTurn<T> {
  /** What the list of what was done is called under `--json`. */
  field: string;
  one: (item: string) => Promise<T>;
  lines: (done: T, item: string) => string[];
}

/**
 * Do the same with several things, one after the other, until one fails. What was done before that is printed all the same: under `--json`
 * as a list beside `failures`, as `run` has them.
 *
 * @throws {CliFailure} where nothing was done before it.
 */
export async function inTurn<T>(
  { asJson, printer }: CommandContext,
  items: readonly string[],
  { field, one, lines }: InTurn<T>,
): Promise<ExitCode> {
  const done: T[] = [];
  const failures: CliFailure[] = [];
  for (const item of items) {
    try {
      const result = await one(item);
      done.push(result);
      if (!asJson) printer.lines(lines(result, item));
    } catch (error) {
      const failure = failureOf(error);
      if (failure === null || done.length === 0) throw error;
      failures.push(failure);
      break;
    }
  }
  if (asJson) printer.json({ [field]: done, failures: failures.map((failure) => failureJson(failure).error) });
  for (const failure of failures) printer.notes(...failureLines(failure, printer.paintNote));
  return failures[0]?.exitCode ?? EXIT.succeeded;
}

/** Delete things one after the other, as `inTurn`. @param ids of what is deleted. */
export function deletedInTurn(
  context: CommandContext,
  ids: readonly string[],
  remove: (id: string) => Promise<void>,
): Promise<ExitCode> {
  const one = (id: string): Promise<string> => remove(id).then(() => id);
  return inTurn(context, ids, { field: 'deleted', one, lines: (id) => [`deleted ${plainLine(id)}`] });
}
