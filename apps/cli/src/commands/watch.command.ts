import type { Command } from 'commander';
import { type InterruptPolicy, progressView } from '../follow';
import type { ExitCode } from '../process';
import type { Bind, CommandContext } from './command-context';
import { guardFor, interruptNote, interruptOption } from './interrupt-option';
import { watchJob } from './watch-job';

interface WatchFlags {
  out?: string;
  onInterrupt: InterruptPolicy;
}

export function addWatch(program: Command, bind: Bind): void {
  program
    .command('watch')
    .description('show the progress of a job until it ends, then print a summary')
    .argument('<job>', 'the id of the job')
    .option('--out <folder>', 'save those of its outputs here that are not there yet')
    .addOption(interruptOption('detach'))
    .action(bind(watch));
}

async function watch(context: CommandContext, id: string, flags: WatchFlags): Promise<ExitCode> {
  const { host, printer } = context;
  const clients = await context.clients();
  if (flags.out) await clients.downloads.prepare(flags.out);
  const view = progressView(host);
  const guard = guardFor(context, clients, view, flags.onInterrupt);
  try {
    return await guard.guarding(async () => {
      const job = await clients.jobs.get(id, guard.signal);
      view.note(`${printer.paintNote.accent('●')} job ${job.id}${interruptNote(context, flags.onInterrupt)}`);
      return watchJob(job, { context, clients, view, guard, outFolder: flags.out ?? null, savesRest: true });
    });
  } finally {
    view.close();
  }
}
