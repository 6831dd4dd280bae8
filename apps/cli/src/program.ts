import { Command, CommanderError } from 'commander';
import {
  addAdmin,
  addAssets,
  addAudit,
  addBatch,
  addCredits,
  addDefaults,
  addDeployments,
  addEstimate,
  addExports,
  addJobs,
  addKeys,
  addLabels,
  addMembers,
  addSpend,
  addLogin,
  addModels,
  addPrivacy,
  addRun,
  addStatus,
  addSubmit,
  addWatch,
  addWebhooks,
  binder,
} from './commands';
import type { GlobalFlags } from './login';
import { type CliFailure, EXIT, type ExitCode, failureOf, type Host, UsageFailure, VERSION } from './process';
import { failureJson, failureLines, Printer } from './terminal';

const EXIT_CODES = `
Exit codes: 0 succeeded, 1 the job failed, 2 usage or input, 3 refused by the service, 4 canceled, 5 expired,
6 the service was unreachable or failed, 7 what it sent could not be saved, 130 interrupted.

Environment: MILLRACE_URL and MILLRACE_API_KEY, else COMFY_BASE_URL and COMFY_API_KEY, else what \`millrace login\` stored.`;

/** Runs one command line. @param args without the program's own name. @returns the exit code. */
export async function runCli(args: string[], host: Host): Promise<ExitCode> {
  let code: ExitCode = EXIT.succeeded;
  const program = programFor(host, (ended) => (code = ended));
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.succeeded;
    // The help was shown because no command was given.
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage;
    return reportFailure(failureFrom(error), program.opts<GlobalFlags>().json === true, host);
  }
}

function programFor(host: Host, ended: (code: ExitCode) => void): Command {
  const program = new Command('millrace')
    .description('Run node-graph workflows as durable jobs.')
    .version(VERSION)
    .option('--url <address>', 'the service')
    .option('--api-key <key>', 'your API key; better set in the environment, where other users cannot see it')
    .option('--json', 'results as JSON on standard output, everything else on standard error')
    .addHelpText('after', EXIT_CODES)
    .configureHelp({ sortSubcommands: false })
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
      // Reported like every other failure, after it was thrown.
      outputError: () => undefined,
    })
    .exitOverride();
  const bind = binder(host, ended);
  for (const add of [addRun, addSubmit, addEstimate, addWatch, addJobs, addBatch, addAssets, addModels])
    add(program, bind);
  for (const add of [
    addKeys,
    addLabels,
    addMembers,
    addAudit,
    addSpend,
    addCredits,
    addExports,
    addDefaults,
    addDeployments,
    addWebhooks,
    addPrivacy,
    addStatus,
    addAdmin,
    addLogin,
  ])
    add(program, bind);
  addSameVerbs(program);
  return program;
}

/** Verbs that mean the same: a command that has one of them answers to the others of its row. */
const SAME_VERBS = [
  ['ls', 'list'],
  ['rm', 'delete', 'remove'],
];

function addSameVerbs(parent: Command): void {
  for (const command of parent.commands) {
    const verbs = SAME_VERBS.find((row) => row.includes(command.name())) ?? [];
    command.aliases(verbs.filter((verb) => verb !== command.name()));
    addSameVerbs(command);
  }
}

/** An unknown error is a bug of this program and is thrown on. */
function failureFrom(error: unknown): CliFailure {
  if (error instanceof CommanderError)
    return new UsageFailure(sentenceOf(error), 'Add --help to see its arguments and flags.');
  const failure = failureOf(error);
  if (failure === null) throw error;
  return failure;
}

/** `error: unknown option '--lable'\n(Did you mean --label?)` as a sentence. */
function sentenceOf({ message }: CommanderError): string {
  const [text = '', ...hints] = message.replace(/^error: /, '').split('\n');
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
  return [sentence, ...hints.map((hint) => hint.replace(/^\((.*)\)$/, '$1'))].join(' ');
}

function reportFailure(failure: CliFailure, asJson: boolean, host: Host): ExitCode {
  const printer = new Printer(host);
  if (asJson) printer.json(failureJson(failure));
  printer.notes(...failureLines(failure, printer.paintNote));
  return failure.exitCode;
}
