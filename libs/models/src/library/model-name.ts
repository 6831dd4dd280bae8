import { Refusal, type FieldError } from '@millrace/contracts';
import { formatOf, type ModelFormat } from '../headers';

/** A folder below ComfyUI's `models`, its own or that of a node pack. */
const FOLDER = /^[a-z0-9][a-z0-9_-]{0,63}$/i;
const NAME_BYTES = 240;
const MOST_STEPS = 8;
/** A part of a path: nothing that a file system or a shell reads as something else, and no blanks at its ends. */
const STEP = /^(?!\.)[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\/:*?"<>|\uFFFD]+(?<![ .])$/u;

/**
 * Check where a model is to lie.
 *
 * @param allowPickles whether formats are taken that run as programs when they are loaded.
 * @returns the format that its name says.
 * @throws Refusal `invalid_request` naming each field.
 */
export function readModelName({ folder, name }: { folder: string; name: string }, allowPickles: boolean): ModelFormat {
  const faults: FieldError[] = [];
  if (!FOLDER.test(folder)) {
    faults.push({ field: 'folder', reason: 'must be a folder of the engine such as checkpoints, loras or vae' });
  }
  const format = formatOf(name);
  const fault = faultOfName(name) ?? faultOfFormat(format, allowPickles);
  if (fault !== null) faults.push({ field: 'name', reason: fault });
  if (faults.length > 0 || format === null) throw Refusal.ofFields(faults);
  return format;
}

function faultOfName(name: string): string | null {
  if (Buffer.byteLength(name) > NAME_BYTES) return `is longer than ${NAME_BYTES} bytes`;
  const steps = name.split('/');
  if (steps.length > MOST_STEPS) return `has more than ${MOST_STEPS} folders`;
  const isPath = steps.every((step) => STEP.test(step) && step.trim() === step);
  if (!isPath) return 'must be a path below the folder, such as sdxl/base.safetensors';
  // Another model may have the name of that folder: an engine could not be shown both.
  const file = steps.slice(0, -1).find((step) => formatOf(step) !== null);
  return file === undefined
    ? null
    : `has the folder ${file}, which ends as a model does: name the folder without this ending`;
}

function faultOfFormat(format: ModelFormat | null, allowPickles: boolean): string | null {
  if (format === null) return 'must end with .safetensors, .sft or .gguf';
  if (format !== 'pickle' || allowPickles) return null;
  return 'names a pickle, which is a program: this service takes .safetensors and .gguf alone';
}
