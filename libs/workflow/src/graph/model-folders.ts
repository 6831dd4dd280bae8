/** Loader nodes by a part of their class and the input that names a file, with the folder that ComfyUI reads for it. The first one counts. */
const LOADERS: readonly [inClass: RegExp, input: RegExp, folder: string][] = [
  [/clip_?vision/i, /^clip_name\d?$/, 'clip_vision'],
  [/latent_?upscale/i, /^model_name$/, 'latent_upscale_models'],
  [/upscale/i, /^model_name$/, 'upscale_models'],
  [/model_?patch/i, /^name$/, 'model_patches'],
];

/** Inputs that are called the same in every loader that has them. */
const INPUTS: readonly [input: RegExp, folder: string][] = [
  [/^ckpt_name\d?$/, 'checkpoints'],
  [/^config_name$/, 'configs'],
  [/^lora_name(_?\d+)?$/, 'loras'],
  [/^vae_name\d?$/, 'vae'],
  [/^unet_name\d?$/, 'diffusion_models'],
  [/^(clip_name\d?|text_encoder\d?)$/, 'text_encoders'],
  [/^control_?net_name\d?$/, 'controlnet'],
  [/^style_model_name$/, 'style_models'],
  [/^gligen_name$/, 'gligen'],
  [/^hypernetwork_name$/, 'hypernetworks'],
  [/^photomaker_model_name$/, 'photomaker'],
  [/^audio_encoder_name$/, 'audio_encoders'],
];

/**
 * The folder of models that an input of a loader node names files of, as ComfyUI's own loaders and those after their fashion have it.
 * An engine does not say so itself.
 *
 * @param folders those that there are: an input of another node pack is taken to name one whose name begins its own, `ipadapter_file`.
 * @returns null where that is not known.
 */
export function modelFolderOf(className: string, input: string, folders: Iterable<string>): string | null {
  const loader = LOADERS.find(([inClass, name]) => inClass.test(className) && name.test(input));
  if (loader !== undefined) return loader[2];
  const known = INPUTS.find(([name]) => name.test(input));
  if (known !== undefined) return known[1];
  const begins = [...folders].filter((folder) => beginsWith(input.toLowerCase(), folder.toLowerCase()));
  return begins.sort((a, b) => b.length - a.length)[0] ?? null;
}

/** `loras` begins `lora_file`, too. */
function beginsWith(input: string, folder: string): boolean {
  return [folder, folder.replace(/s$/, '')].some(
    (word) => word !== '' && (input === word || input.startsWith(`${word}_`)),
  );
}
