import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { NodeClass } from './node-class';

/** What the server has of its own, beside the files of a folder of models. */
const BUILT_IN = ['base.safetensors', 'sub/other.safetensors'];

/**
 * ComfyUI's loader of checkpoints where it has a file that names more folders of models: the list is that of the moment, and what is
 * loaded shows in a text which content it was (`PreviewAny`).
 *
 * @param pathsFile as given to `--extra-model-paths-config`; the folders are below it, under their own names
 */
export function modelNodes(pathsFile: string): Record<string, NodeClass> {
  const folder = join(dirname(pathsFile), 'checkpoints');
  return {
    CheckpointLoaderSimple: {
      get required() {
        return { ckpt_name: JSON.stringify([[...new Set([...BUILT_IN, ...filesIn(folder)])].sort(), {}]) };
      },
      outputs: ['MODEL', 'CLIP', 'VAE'],
      run: ({ inputs }) => {
        const path = join(folder, String(inputs['ckpt_name']));
        const text = `model ${createHash('sha256').update(readIfThere(path)).digest('hex')}`;
        return { values: [{ type: 'MODEL', toString: () => text }, { type: 'CLIP' }, { type: 'VAE' }] };
      },
    },
  };
}

function filesIn(folder: string): string[] {
  try {
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
    return paths.filter((path) => statSync(path).isFile()).map((path) => relative(folder, path).split(sep).join('/'));
  } catch (error) {
    // A run that ends takes its models away meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.from('built in');
    throw error;
  }
}
