import { parseArgs } from 'node:util';
import { join } from 'node:path';
import { ComfyuiSimulator } from './simulator';

/**
 * The simulator as a process of its own, started with ComfyUI's flags. `--fail-start` makes it end with a complaint,
 * `--ignore-term` outlive SIGTERM.
 */
const { values } = parseArgs({ strict: false, allowPositionals: true });

if (values['fail-start']) {
  process.stderr.write('ModuleNotFoundError: No module named torch\n');
  process.exit(1);
}
if (values['ignore-term']) process.on('SIGTERM', () => undefined);

void ComfyuiSimulator.start({
  port: Number(valueAfter('--port') ?? 0),
  folders: {
    input: valueAfter('--input-directory') ?? 'input',
    output: valueAfter('--output-directory') ?? 'output',
    // As ComfyUI has it: a folder in the folder.
    temp: join(valueAfter('--temp-directory') ?? '.', 'temp'),
  },
  modelPaths: valueAfter('--extra-model-paths-config'),
  keepsTime: true,
  picturesSteps: valueAfter('--preview-method') !== 'none',
  toStdout: (text) => process.stdout.write(text),
  abort: () => process.kill(process.pid, 'SIGABRT'),
});

function valueAfter(flag: string): string | undefined {
  const at = process.argv.indexOf(flag);
  return at < 0 ? undefined : process.argv[at + 1];
}
