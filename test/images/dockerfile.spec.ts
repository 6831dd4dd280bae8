import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOf, instructionsOf, lastOf, readStages } from './support/dockerfile';

const DOCKER = join(__dirname, '..', '..', 'docker');
const stages = readStages(join(DOCKER, 'Dockerfile'));
const PROCESSES = ['api', 'worker', 'maintenance', 'fleet', 'gateway'];

describe('the images', () => {
  it.each(['Dockerfile', 'comfyui.Dockerfile'])('begin from exact versions in %s', (file) => {
    const read = readStages(join(DOCKER, file));
    const names = read.map(({ name }) => name);
    const bases = read.map(({ from }) => from).filter((from) => !names.includes(from));
    expect(bases.filter((base) => !/:v?\d+\.\d+\.\d+/.test(base))).toEqual([]);
  });

  it.each(['Dockerfile', 'comfyui.Dockerfile'])('let the image below %s be given, with a digest', (file) => {
    const lines = readFileSync(join(DOCKER, file), 'utf8').split('\n');
    const names = readStages(join(DOCKER, file)).map(({ name }) => name);
    const others = lines.flatMap((line) => /^FROM (\S+)/.exec(line)?.[1] ?? []).filter((from) => !names.includes(from));
    expect(others.length).toBeGreaterThan(0);
    expect(others.filter((from) => !/^\$\{\w+_IMAGE\}$/.test(from))).toEqual([]);
    // A builder would fetch what such a line names, by a tag that moves.
    expect(lines.filter((line) => line.startsWith('# syntax='))).toEqual([]);
  });

  it.each([...PROCESSES, 'setup'])('have in %s its own folder alone', (target) => {
    const copies = instructionsOf(stages, target).filter(({ word }) => word === 'COPY');
    expect(copies.map(({ rest }) => rest)).toEqual([`--from=build /out/${target} /app`]);
  });

  it.each([...PROCESSES, 'setup'])('run %s as a user that is a number other than 0, without a shell', (target) => {
    const instructions = instructionsOf(stages, target);
    expect(lastOf(instructions, 'USER')).toBe('1000:1000');
    expect(commandOf(lastOf(instructions, 'CMD'))[0]).toBe('node');
    expect(instructions.filter(({ word }) => word === 'ENTRYPOINT')).toEqual([]);
  });

  it.each(PROCESSES)('ask %s for its health', (target) => {
    expect(commandOf(lastOf(instructionsOf(stages, target), 'HEALTHCHECK')).join(' ')).toContain('/health/live');
  });

  it('fetch nothing in their last stages', () => {
    const shipped = [...PROCESSES, 'setup'].flatMap((target) => instructionsOf(stages, target));
    const runs = shipped.filter(({ word }) => word === 'RUN').map(({ rest }) => rest);
    expect(runs.filter((run) => /npm|npx|curl|wget|apt|git/.test(run))).toEqual([]);
  });
});
