// The ComfyUI engine's suites against a real ComfyUI:
//
//   npm run test:comfyui -- --url http://127.0.0.1:8188
//   npm run test:comfyui -- --dir ~/ComfyUI --python ~/ComfyUI/venv/bin/python --arguments="--cpu"
//
// `--url` uses one that runs, and must serve nobody else; `--dir` starts one, kills it and lets it hang. Either has
// `libs/testing/src/comfyui-simulator/test-nodes` as a folder of its `custom_nodes`, and runs with --disable-metadata,
// --log-stdout and a preview method.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    dir: { type: 'string' },
    python: { type: 'string' },
    arguments: { type: 'string' },
  },
});

if (!values.url && !values.dir) {
  console.error('Say which ComfyUI to test: --url http://127.0.0.1:8188 for one that runs, --dir FOLDER to start one.');
  process.exit(2);
}

if (values.url) {
  const answer = await fetch(`${values.url}/object_info/TestSteps`).catch(() => null);
  const text = answer?.ok ? await answer.text() : '';
  if (!text.includes('TestSteps')) {
    const cure = answer
      ? 'Put libs/testing/src/comfyui-simulator/test-nodes into its custom_nodes.'
      : 'Start it first.';
    console.error(`ComfyUI at ${values.url} ${answer ? 'lacks the test nodes' : 'does not answer'}. ${cure}`);
    process.exit(2);
  }
}

const environment = {
  MILLRACE_COMFYUI_URL: values.url,
  MILLRACE_COMFYUI_DIR: values.dir,
  MILLRACE_COMFYUI_PYTHON: values.python,
  MILLRACE_COMFYUI_ARGUMENTS: values.arguments,
};
const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const { status } = spawnSync(process.execPath, [jest, '--testMatch', '**/comfyui.live.ts', '--runInBand'], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    ...Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined)),
  },
});
process.exit(status ?? 1);
