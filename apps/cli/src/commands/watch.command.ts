import type { Command } from 'commander';
import { type InterruptPolicy, progressView } from '../follow';
import type { ExitCode } from '../process';
import { attendJob } from './attend-job';
import type { Bind, CommandContext } from './command-context';
import { guardOf, hint, interruptOption } from './run.command';

interface WatchFlags {
  out?: string;
  onInterrupt: InterruptPolicy;
}

export function addWatch(program: Command, bind: Bind): void {
  program
    .command('watch')
    .description('show the progress of a job until it ends, then print what it took')
    .argument('<job>', 'the id of the job')
    .option('--out <folder>', 'save its outputs here')
    .addOption(interruptOption('detach'))
    .action(bind(watch));
}

async function watch(context: CommandContext, id: string, flags: WatchFlags): Promise<ExitCode> {
  const { host, printer } = context;
  const clients = await context.clients();
  if (flags.out) await clients.downloads.prepare(flags.out);
  const view = progressView(host);
  const guard = guardOf(context, clients, view, flags.onInterrupt);
  try {
    const job = await clients.jobs.get(id, guard.signal);
    view.note(`${printer.paintNote.accent('●')} job ${job.id}${hint(context, flags.onInterrupt)}`);
    return await attendJob(job, { context, clients, view, guard, outFolder: flags.out ?? null });
  } finally {
    view.close();
    guard.stop();
  }
}
