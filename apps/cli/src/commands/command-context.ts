import type { Command } from 'commander';
import { type Clients, clientsFor, recordOf, recordsOf } from '../client';
import { WriteGuard } from '../follow';
import { type GlobalFlags, isGiven, readLogin, resolveSettings, type Settings } from '../login';
import { EXIT, type ExitCode, type Host } from '../process';
import { type Cell, factLines, plainLine, Printer, recordTable } from '../terminal';

/** What a command runs with: the process around it, the global flags and the printer. */
export class CommandContext {
  readonly printer: Printer;

  constructor(
    readonly host: Host,
    readonly flags: GlobalFlags,
  ) {
    this.printer = new Printer(host);
  }

  /** True where standard output is for a program (`--json`). */
  get asJson(): boolean {
    return this.flags.json === true;
  }

  /** @throws {UsageFailure} when no service is named. */
  async clients(): Promise<Clients> {
    const { flags, host } = this;
    const login = isGiven(flags, host.env) ? null : await readLogin(host);
    return this.clientsOf(resolveSettings(flags, host.env, login));
  }

  /** The clients of a service. Ctrl-C during a write waits for its answer. */
  clientsOf(settings: Settings): Clients {
    const { host, printer } = this;
    const note = (line: string): void => printer.notes(`${printer.paintNote.warn('■')} ${line}`);
    return clientsFor(settings, host, new WriteGuard(host, note));
  }

  /** The result as JSON, or as the lines that `show` makes of it. */
  print<T>(value: T, show: (value: T) => string[]): void {
    if (this.asJson) this.printer.json(value);
    else this.printer.lines(show(value));
  }

  /** A record of the service, one field a line; an answer without a body prints as done. */
  printRecord(answer: unknown): void {
    const { paint } = this.printer;
    this.print(answer, (value) =>
      value === null ? [paint.good('✓ done')] : factLines(recordOf(value), this.host.nowMs(), paint),
    );
  }

  /** A list of the service as a table. @param none what is printed when the list is empty. */
  printTable(answer: unknown, titles: string[], rows: Cell[][], none: string): void {
    if (this.asJson) this.printer.json(answer);
    else this.printer.table(titles, rows, none);
  }

  /**
   * The same of records with any fields.
   *
   * @param first the fields that matter most: a narrow terminal has no room for the last ones.
   */
  printRecords(answer: unknown, none: string, first: readonly string[] = []): void {
    const { columns, paintNote } = this.printer;
    const view = { nowMs: this.host.nowMs(), onTerminal: columns !== null, first };
    const { titles, rows } = recordTable(recordsOf(answer), view);
    this.printTable(answer, titles, rows, none);
    const { next_cursor: next } = recordOf(answer);
    if (typeof next === 'string')
      this.printer.notes(paintNote.faint(`There are more: add --cursor ${plainLine(next)}`));
  }
}

/** One verb of the command line. Returns the exit code; nothing means success. */
export type Verb<A extends unknown[]> = (context: CommandContext, ...args: A) => Promise<ExitCode | void>;

/** Turns a verb into commander's callback. */
export type Bind = <A extends unknown[]>(verb: Verb<A>) => (this: Command, ...args: A) => Promise<void>;

/** @param ended called with the exit code of the verb that ran. */
export function binder(host: Host, ended: (code: ExitCode) => void): Bind {
  return (verb) =>
    async function run(this: Command, ...args) {
      const context = new CommandContext(host, this.optsWithGlobals<GlobalFlags>());
      ended((await verb(context, ...args)) ?? EXIT.succeeded);
    };
}
