import { REUSE_MODES } from '@millrace/contracts';
import { Option, type Command } from 'commander';
import type { Job } from '../client';
import { type InterruptPolicy, progressView } from '../follow';
import { EXIT, type ExitCode } from '../process';
import { plainLine } from '../terminal';
import type { Bind, CommandContext } from './command-context';
import { guardFor, interruptNote, interruptOption } from './interrupt-option';
import { submitGraph, type SubmitFlags } from './submit-graph';
import { collect, creditMicros, parserOf, wholeNumber } from './values/typed-value';
import { watchJob } from './watch-job';

const MAX_WAIT = wholeNumber(0, 999_999_999, 'seconds');
const SPEND_LIMIT = parserOf('--spend-limit', creditMicros);

export interface RunFlags extends SubmitFlags {
  /** False under `--no-out`. */
  out: string | false;
  detach?: boolean;
  onInterrupt: InterruptPolicy;
}

export function addRun(program: Command, bind: Bind): void {
  submissionFlags(program.command('run'))
    .description('submit a graph, show its progress, save its outputs, print a summary')
    .option('--out <folder>', 'save outputs here under their own names; no file is replaced', './out')
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

/** At Ctrl-C before that. */
const NOT_SUBMITTED = 'Interrupted; no job was created.';
const SUBMIT_ONLY = { out: false, detach: true, onInterrupt: 'cancel' } as const;

async function run(context: CommandContext, graph: string, flags: RunFlags): Promise<ExitCode> {
  const { host, printer } = context;
  const clients = await context.clients();
  const view = progressView(host);
  const guard = guardFor(context, clients, view, flags.onInterrupt);
  try {
    const note = (line: string): void => view.note(line);
    const prepare = async (): Promise<void> => {
      if (flags.out && !flags.detach) await clients.downloads.prepare(flags.out);
    };
    const tools = { host, clients, guard, paint: printer.paintNote, note, prepare, interrupted: NOT_SUBMITTED };
    return await guard.guarding(async () => {
      const job = await submitGraph(graph, flags, tools);
      if (flags.detach) return announce(context, job);
      view.note(`${printer.paintNote.accent('●')} job ${job.id}${interruptNote(context, flags.onInterrupt)}`);
      return watchJob(job, { context, clients, view, guard, outFolder: flags.out || null });
    });
  } finally {
    view.close();
  }
}

function announce({ asJson, printer }: CommandContext, job: Job): ExitCode {
  if (asJson) printer.json({ job });
  else printer.lines([job.id]);
  printer.notes(printer.paintNote.faint(`Watch it: millrace watch ${plainLine(job.id)}`));
  return EXIT.succeeded;
}

function submissionFlags(command: Command): Command {
  return graphFlags(command)
    .option('--idempotency-key <key>', 'submitting again with this key creates no second job')
    .option(
      '--retry <policy>',
      'which failures are tried again, such as "max=2, on=(engine_error worker_lost), pause=30"',
    )
    .addOption(reuseOption())
    .addOption(spendLimitOption())
    .option(
      '--max-wait <seconds>',
      'retry for this long while the service asks to retry later (429)',
      parserOf('--max-wait', MAX_WAIT),
      600,
    );
}

/** `--reuse` is `exact`; `--reuse off` goes before a default of the account. */
export function reuseOption(): Option {
  return new Option('--reuse [mode]', 'take the outputs of an earlier job that asked for exactly the same')
    .choices([...REUSE_MODES, 'off'])
    .preset('exact');
}

/** In credits. */
export function spendLimitOption(): Option {
  return new Option('--spend-limit <credits>', 'the most that the job may cost, such as 0.5').argParser(SPEND_LIMIT);
}

/** What makes the body of a submission. */
export function graphFlags(command: Command): Command {
  return command
    .argument('<graph>', 'a graph in API format; - reads it from standard input')
    .option(
      '-i, --input <node.input=file>',
      'upload a file and set an input to it; asset:<id> names one uploaded before',
      collect,
    )
    .option('-s, --set <node.input=value>', 'set an input to another value; := takes JSON', collect)
    .option('-l, --label <key=value>', 'label the job', collect);
}
