import type { ModelName } from '@millrace/contracts';
import { UsageFailure } from '../../process';
import type { ReadValue } from './typed-value';

/** Takes all models away. */
const NONE = 'none';

/** Between two models: a comma before a folder. Names may have commas. */
const BETWEEN = /,(?=[a-z0-9][a-z0-9_-]*\/)/i;

/** `checkpoints/base.safetensors,loras/style.safetensors`, or `none`. @throws {UsageFailure} for what has no folder. */
export const modelsOrNone: ReadValue<ModelName[]> = (text, flag) => {
  if (text === NONE) return [];
  return text.split(BETWEEN).map((model) => {
    const [, folder = '', name = ''] = /^([^/]+)\/(.+)$/.exec(model) ?? [];
    if (folder !== '') return { folder, name };
    throw new UsageFailure(
      `${flag} ${JSON.stringify(model)} is not valid.`,
      `Give models with their folders, such as checkpoints/base.safetensors,loras/style.safetensors, or \`${NONE}\`.`,
    );
  });
};
