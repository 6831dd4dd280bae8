import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@millrace/platform';
import { AttemptFiles } from './attempt-files';

const logger = createLogger('test', 'silent');

let place: string;
beforeEach(async () => (place = await mkdtemp(join(tmpdir(), 'millrace-attempt-files-test-'))));
afterEach(() => rm(place, { recursive: true, force: true }));

const filesOf = (attempt: number): AttemptFiles => new AttemptFiles(place, { jobId: 'job', attempt }, logger);

describe('the files of an attempt', () => {
  it('lie in folders of this attempt alone, made where they are needed', async () => {
    const [first, second] = [filesOf(1), filesOf(2)];
    expect(await readdir(place)).toEqual([]);
    const inputs = await first.makeInputs();
    expect(await readdir(inputs)).toEqual([]);
    expect(await readdir(place)).toHaveLength(1);
    expect(new Set([first.outputs, inputs, second.outputs, await second.makeInputs()]).size).toBe(4);
  });

  it('go with the attempt, those that nobody took among them', async () => {
    const files = filesOf(1);
    files.mayHaveOutputs = true;
    await mkdir(files.outputs);
    await writeFile(join(files.outputs, 'left.png'), 'x');
    await writeFile(join(await files.makeInputs(), 'in.png'), 'x');
    const other = filesOf(2);
    other.mayHaveOutputs = true;
    await mkdir(other.outputs);
    await files.remove();
    expect(await readdir(place)).toHaveLength(1);
    await other.remove();
    expect(await readdir(place)).toEqual([]);
  });

  it('need not be there to be removed', async () => {
    const files = filesOf(1);
    await files.remove();
    files.mayHaveOutputs = true;
    await files.remove();
    expect(await readdir(place)).toEqual([]);
  });
});
