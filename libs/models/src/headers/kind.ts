import type { ModelKind } from './model-header';

/** Each kind by parts of names of its tensors, of which each must occur. The first that fits counts. */
const BY_TENSORS: readonly (readonly [ModelKind, readonly RegExp[]])[] = [
  ['lora', [/\.lora_(?:down|up|A|B)\.|^lora_(?:unet|te)/]],
  ['controlnet', [/control_model\.|controlnet_|input_hint_block\./]],
  [
    'checkpoint',
    [/^model\.diffusion_model\./, /^(?:first_stage_model|cond_stage_model|conditioner|vae|text_encoders)\./],
  ],
  ['diffusion_model', [/^model\.diffusion_model\./]],
  ['vae', [/(?:^|\.)encoder\.(?:down|conv_in)/, /(?:^|\.)decoder\.(?:up|conv_out)/]],
  ['diffusion_model', [/(?:^|\.)(?:double_blocks|joint_blocks|transformer_blocks|diffusion_blocks|input_blocks)\./]],
  ['diffusion_model', [/^down_blocks\./, /^up_blocks\./]],
  ['clip_vision', [/(?:^|\.)(?:vision_model|visual)\./]],
  ['text_encoder', [/(?:^|\.)(?:text_model\.encoder|encoder\.block\.0|model\.layers\.0)(?:\.|$)/]],
  ['embedding', [/^(?:emb_params|clip_g|clip_l|string_to_param)/]],
];

/** Kinds that a header names itself, as the end of its architecture (modelspec): `stable-diffusion-xl-v1-base/lora`. */
const NAMED: Readonly<Record<string, ModelKind>> = {
  lora: 'lora',
  controlnet: 'controlnet',
  vae: 'vae',
  'textual-inversion': 'embedding',
};

/** @returns null where the names are of no known kind. */
export function kindOf(tensors: readonly string[], architecture: string | null): ModelKind | null {
  const named = architecture?.split('/')[1];
  if (named !== undefined && Object.hasOwn(NAMED, named)) return NAMED[named] ?? null;
  const fits = (parts: readonly RegExp[]): boolean => parts.every((part) => tensors.some((name) => part.test(name)));
  return BY_TENSORS.find(([, parts]) => fits(parts))?.[0] ?? null;
}
