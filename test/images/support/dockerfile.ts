import { readFileSync } from 'node:fs';

/** One instruction, its lines joined. */
export interface Instruction {
  word: string;
  rest: string;
}

/** A stage of a Dockerfile: what it begins from, and its own instructions. */
export interface Stage {
  name: string;
  from: string;
  instructions: Instruction[];
}

/**
 * Read a Dockerfile's stages, in order. Comments, the lines of one instruction, and arguments before the first stage with what they are
 * by default are dealt with; here-documents are not.
 */
export function readStages(file: string): Stage[] {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Stage[] = [];
  const given = new Map<string, string>();
  for (const line of lines) {
    const [, word = '', rest = ''] = /^\s*(\w+)\s+(.*)$/.exec(line) ?? [];
    const [, from, name] = (word === 'FROM' ? /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(rest) : null) ?? [];
    const [, argument, value] = /^(\w+)=(\S+)$/.exec(word === 'ARG' && stages.length === 0 ? rest : '') ?? [];
    if (argument !== undefined) given.set(argument, value ?? '');
    else if (from !== undefined) {
      const image = from.replace(/^\$\{(\w+)\}$/, (whole, argumentName: string) => given.get(argumentName) ?? whole);
      stages.push({ name: name ?? '', from: image, instructions: [] });
    } else stages.at(-1)?.instructions.push({ word, rest });
  }
  return stages;
}

/** The instructions that make a target, those of the stages below it first. */
export function instructionsOf(stages: Stage[], target: string): Instruction[] {
  const stage = stages.find(({ name }) => name === target);
  if (stage === undefined) return [];
  return [...instructionsOf(stages, stage.from), ...stage.instructions];
}

/** The last instruction of a kind; what came before it is overridden. */
export function lastOf(instructions: Instruction[], word: string): string {
  return instructions.filter((instruction) => instruction.word === word).at(-1)?.rest ?? '';
}

/** The words of a CMD, in the form that needs no shell. */
export function commandOf(text: string): string[] {
  return JSON.parse(text.replace(/^.*?CMD /, '')) as string[];
}
