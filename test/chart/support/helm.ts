import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const ROOT = join(__dirname, '..', '..', '..');
export const CHART = join(ROOT, 'helm', 'millrace');
/** The oldest that the chart admits. */
const KUBERNETES = '1.29.0';

/** One object of a rendered chart. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  [field: string]: unknown;
}

/** How a run of Helm ended. */
interface HelmRun {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Run the Helm that the test command found.
 *
 * @param values read by it where the arguments say `--values -`
 */
export function helm(args: string[], values: object = {}): Promise<HelmRun> {
  const program = process.env.MILLRACE_TEST_HELM;
  if (!program) throw new Error('MILLRACE_TEST_HELM is not set; run the tests with: npm test -- <pattern>');
  return new Promise((resolve) => {
    const child = execFile(program, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
    child.stdin?.end(JSON.stringify(values));
  });
}

/** The value sets of the chart, by name. */
export const CI_SETS = readdirSync(join(CHART, 'ci'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace(/\.yaml$/, ''));

/** The file of a value set. */
export function ciFile(set: string): string {
  return join(CHART, 'ci', `${set}.yaml`);
}

/** Render the chart as release `rel` in the namespace `apps`: a value set, with `over` over it. */
export function template(set: string, over: object = {}): Promise<HelmRun> {
  const args = ['template', 'rel', CHART, '--namespace', 'apps', '--kube-version', KUBERNETES];
  return helm([...args, '--values', ciFile(set), '--values', '-'], over);
}

/** Every object that a value set gives. @throws with Helm's sentence when it is refused. */
export async function render(set: string, over: object = {}): Promise<Manifest[]> {
  const { code, stdout, stderr } = await template(set, over);
  if (code !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => {
      if (document.errors[0]) throw document.errors[0];
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);
}
