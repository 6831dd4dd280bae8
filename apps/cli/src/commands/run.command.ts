import { Option, type Command } from 'commander';
import type { Job } from '../client';
import { INTERRUPT_POLICIES, InterruptGuard, type InterruptPolicy, progressView, type ProgressView } from '../follow';
import { CliFailure, EXIT, type ExitCode } from '../process';
import { failureLines, plainLine } from '../terminal';
import { attendJob } from './attend-job';
import type { Bind, Clients, CommandContext } from './command-context';
import { submitGraph, type SubmitFlags } from './submit-graph';
import { parserOf, wholeNumber } from './typed-value';

const MAX_WAIT = wholeNumber(0, 999_999_999, 'seconds');

export interface RunFlags extends SubmitFlags {
  /** False under `--no-out`. */
  out: string | false;
  detach?: boolean;
  onInterrupt: InterruptPolicy;
}

export function addRun(program: Command, bind: Bind): void {
  submissionFlags(program.command('run'))
    .description('submit a graph, show its progress, save its outputs, print what it took')
    .option('--out <folder>', 'save outputs here; names are kept, and never replace a file', './out')
    .option('--no-out', 'leave the outputs at the service')
    .option('--detach', 'submit only, and print the id of the job')
    .addOption(interruptOption('cancel'))
    .action(bind(run));
}

export function addSubmit(program: Command, bind: Bind): void {
  submissionFlags(program.command('submit'))
    .description('submit a graph and print the id of the job')
    .action(bind((context, graph: string, flags: SubmitFlags) => run(context, graph, { ...flags, ...SUBMIT_ONLY })));
}

const SUBMIT_ONLY = { out: false, detach: true, onInterrupt: 'cancel' } as const;

export function interruptOption(preset: InterruptPolicy): Option {
  const text = 'what the first Ctrl-C does to the job; a second one leaves at once';
  return new Option('--on-interrupt <choice>', text).choices(INTERRUPT_POLICIES).default(preset);
}

async function run(context: CommandContext, graph: string, flags: RunFlags): Promise<ExitCode> {
  const { host, printer } = context;
  const clients = await context.clients();
  const view = progressView(host);
  const guard = guardOf(context, clients, view, flags.onInterrupt);
  try {
    const note = (line: string): void => view.note(line);
    const prepare = async (): Promise<void> => {
      if (flags.out && !flags.detach) await clients.downloads.prepare(flags.out);
    };
    const tools = { host, clients, guard, paint: printer.paintNote, note, prepare };
    const job = await submitGraph(graph, flags, tools);
    if (flags.detach) return announce(context, job);
    view.note(`${printer.paintNote.accent('●')} job ${job.id}${hint(context, flags.onInterrupt)}`);
    return await attendJob(job, { context, clients, view, guard, outFolder: flags.out || null });
  } finally {
    view.close();
    guard.stop();
  }
}

/** Ctrl-C for a command that has, or is about to have, a job. */
export function guardOf(
  { host, printer }: CommandContext,
  { jobs }: Clients,
  view: ProgressView,
  policy: InterruptPolicy,
): InterruptGuard {
  const failed = (error: unknown): void => {
    if (!(error instanceof CliFailure)) throw error;
    for (const line of failureLines(error, printer.paintNote)) view.note(line);
  };
  return new InterruptGuard(host, policy, {
    note: (line) => view.note(`${printer.paintNote.warn('■')} ${line}`),
    cancel: (job) => jobs.cancel(job).then(() => undefined, failed),
  });
}

/** On a terminal, what Ctrl-C will do. */
export function hint({ host, printer }: CommandContext, policy: InterruptPolicy): string {
  if (!host.stderr.isTTY) return '';
  const text = policy === 'cancel' ? 'Ctrl-C cancels it' : 'Ctrl-C leaves it running';
  return `  ${printer.paintNote.faint(text)}`;
}

function announce({ asJson, printer }: CommandContext, job: Job): ExitCode {
  if (asJson) printer.json({ job });
  else printer.lines([job.id]);
  printer.notes(printer.paintNote.faint(`Watch it: millrace watch ${plainLine(job.id)}`));
  return EXIT.succeeded;
}

function submissionFlags(command: Command): Command {
  return command
    .argument('<graph>', 'a graph in API format; - reads it from standard input')
    .option(
      '-i, --input <node.input=file>',
      'upload a file and give it to an input; asset:<id> names one uploaded before',
      collect,
    )
    .option('-s, --set <node.input=value>', 'give an input another value; := takes JSON', collect)
    .option('-l, --label <key=value>', 'label the job', collect)
    .option('--idempotency-key <key>', 'submitting again with this key creates no second job')
    .option(
      '--max-wait <seconds>',
      'wait this long while the service asks to come back later',
      parserOf('--max-wait', MAX_WAIT),
      600,
    );
}

/** A flag that may be given many times. */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}
