import { mkdir, readdir, rmdir, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ModelFile } from '@millrace/contracts';
import { CacheFolderError, canLink, type CacheFolder } from './cache-folder';
import { codeOf, linkNew, unlessMissing } from './files';

/**
 * The folders that a ComfyUI of today looks for models in. One that reads only these finds models of other kinds after
 * they are added here.
 */
const COMFYUI_MODEL_FOLDERS = [
  'audio_encoders',
  'checkpoints',
  'clip_vision',
  'configs',
  'controlnet',
  'diffusion_models',
  'embeddings',
  'gligen',
  'hypernetworks',
  'latent_upscale_models',
  'loras',
  'model_patches',
  'photomaker',
  'style_models',
  'text_encoders',
  'upscale_models',
  'vae',
  'vae_approx',
] as const;

/** The file that makes a ComfyUI read the links, for its flag `--extra-model-paths-config`. */
export const MODEL_PATHS_FILE = 'extra_model_paths.yaml';

/** The engine is shown another model with whose name this one cannot be: one is a folder in the path of the other. */
export class NameTaken extends Error {}

/** Names of links that are remembered: those of 50 runs with as many models as a graph can name. */
const LENT_NAMES = 10_000;

/**
 * The models that one engine sees: hard links to files of the cache, in ComfyUI's folders. They are exchanged for each run, so that
 * a graph finds by name what its own account may use and nothing else.
 *
 * The folder is the links' alone: what else is found in it is refused, because it would be removed.
 */
export class EngineLinks {
  /** Of the folders that were changed: ComfyUI reads a folder again when its time has changed. */
  private lastChangeMs = 0;
  /** The last to be linked come last. */
  private readonly lent = new Set<string>();
  private mayShow = true;

  private constructor(readonly path: string) {}

  /**
   * Make the folder, empty it, and write the file that a ComfyUI is started with.
   *
   * @throws CacheFolderError where the folder has files of somebody else, or cannot have links to the cache.
   */
  static async open(path: string, cache: CacheFolder): Promise<EngineLinks> {
    const links = new EngineLinks(path);
    for (const folder of COMFYUI_MODEL_FOLDERS) await mkdir(join(path, folder), { recursive: true });
    await links.refuseOthers(path);
    await links.clear();
    if (!(await canLink(cache.locks, path))) {
      const message = `${path} cannot have links to ${cache.path}: both have to be on one file system, and in one mount.`;
      throw new CacheFolderError(message);
    }
    const lines = COMFYUI_MODEL_FOLDERS.map((folder) => `  ${folder}: ${folder}\n`);
    const text = `millrace:\n  base_path: .\n  is_default: true\n${lines.join('')}`;
    await writeFile(join(path, MODEL_PATHS_FILE), text);
    return links;
  }

  /**
   * Remove the links that a process which has ended left in a folder that it was given.
   *
   * @param inodes of the models in the cache: nothing else is removed.
   */
  static async abandon(path: string, inodes: ReadonlySet<number>): Promise<void> {
    for (const entry of await entriesOf(path)) {
      if (entry.isFolder) await EngineLinks.abandon(entry.path, inodes);
      else if (inodes.has((await unlessMissing(stat(entry.path)))?.ino ?? 0)) await unlessMissing(unlink(entry.path));
    }
  }

  /** A file with one link was never in the cache, or is the only one that is left of what was. */
  private async refuseOthers(folder: string): Promise<void> {
    for (const { name, path, isFolder } of await entriesOf(folder)) {
      if (isFolder) await this.refuseOthers(path);
      else if (folder !== this.path && (await stat(path)).nlink < 2) {
        throw new CacheFolderError(
          `${path} is no model of the cache: the folder is emptied for each run. Keep ${name} elsewhere.`,
        );
      } else if (folder === this.path && name !== MODEL_PATHS_FILE) {
        throw new CacheFolderError(`${path} is in the folder that the model cache empties. Name a folder of its own.`);
      }
    }
  }

  /** @returns false where the engine has a file of this name already. @throws NameTaken */
  async add(from: string, { folder, name }: Pick<ModelFile, 'folder' | 'name'>): Promise<boolean> {
    const target = join(this.path, ...safeSegments(folder, name));
    this.mayShow = true;
    await mkdir(dirname(target), { recursive: true }).catch((error: unknown) => {
      throw ['EEXIST', 'ENOTDIR'].includes(codeOf(error)) ? new NameTaken('a file has the name of a folder') : error;
    });
    this.lend(name);
    const isNew = await linkNew(from, target);
    if (!isNew && (await stat(target)).isDirectory()) throw new NameTaken('a folder has the name of a file');
    await this.changed(dirname(target));
    return isNew;
  }

  /** Whether a model of this name was linked in one of the last runs: an engine that is asked now may have listed it then. */
  hasLent(name: string): boolean {
    return this.lent.has(name);
  }

  private lend(name: string): void {
    this.lent.delete(name);
    this.lent.add(name);
    for (const oldest of this.lent) {
      if (this.lent.size <= LENT_NAMES) return;
      this.lent.delete(oldest);
    }
  }

  /** Whether links may be there: some were added since all were removed. */
  get mayShowModels(): boolean {
    return this.mayShow;
  }

  /** Remove every link. Where this rejects, some may still be there. */
  async clear(): Promise<void> {
    for (const { path, isFolder } of await entriesOf(this.path)) if (isFolder) await this.clearFolder(path);
    this.mayShow = false;
  }

  private async clearFolder(folder: string): Promise<void> {
    const entries = await entriesOf(folder);
    for (const { path, isFolder } of entries) {
      if (!isFolder) await unlessMissing(unlink(path));
      else {
        await this.clearFolder(path);
        await unlessMissing(rmdir(path));
      }
    }
    if (entries.length > 0) await this.changed(folder);
  }

  /** A folder that changes twice within the grain of the file system's clock would look as if it had not. */
  private async changed(folder: string): Promise<void> {
    this.lastChangeMs = Math.max(Date.now(), this.lastChangeMs + 1);
    const time = this.lastChangeMs / 1000;
    await unlessMissing(utimes(folder, time, time));
  }
}

interface Entry {
  name: string;
  path: string;
  isFolder: boolean;
}

async function entriesOf(folder: string): Promise<Entry[]> {
  const entries = (await unlessMissing(readdir(folder, { withFileTypes: true }))) ?? [];
  return entries.map((entry) => ({
    name: entry.name,
    path: join(folder, entry.name),
    isFolder: entry.isDirectory(),
  }));
}

/** @throws {Error} for a name that would lead out of its folder; the library lets none in. */
function safeSegments(folder: string, name: string): string[] {
  const segments = [folder, ...name.split('/')];
  const isSafe = segments.every((segment) => /^(?!\.{1,2}$)[^/\\\0]{1,255}$/.test(segment));
  if (!isSafe || folder.includes('/')) throw new Error(`${folder}/${name} is no name of a model`);
  return segments;
}
