import { modelFolderOf } from './model-folders';

describe('the folder of models that an input names files of', () => {
  it.each([
    ['CheckpointLoaderSimple', 'ckpt_name', 'checkpoints'],
    ['ImageOnlyCheckpointLoader', 'ckpt_name', 'checkpoints'],
    ['CheckpointLoader', 'config_name', 'configs'],
    ['LoraLoaderModelOnly', 'lora_name', 'loras'],
    ['LoRA Stacker', 'lora_name_12', 'loras'],
    ['VAELoader', 'vae_name', 'vae'],
    ['UnetLoaderGGUF', 'unet_name', 'diffusion_models'],
    ['DualCLIPLoader', 'clip_name2', 'text_encoders'],
    ['CLIPVisionLoader', 'clip_name', 'clip_vision'],
    ['ControlNetLoader', 'control_net_name', 'controlnet'],
    ['UpscaleModelLoader', 'model_name', 'upscale_models'],
    ['LatentUpscaleModelLoader', 'model_name', 'latent_upscale_models'],
    ['ModelPatchLoader', 'name', 'model_patches'],
    ['AudioEncoderLoader', 'audio_encoder_name', 'audio_encoders'],
  ])('of %s, %s, is %s', (className, input, folder) => {
    expect(modelFolderOf(className, input, [])).toBe(folder);
  });

  it('of another node pack is one whose name begins that of the input', () => {
    const folders = ['ip', 'ipadapter', 'loras'];
    expect(modelFolderOf('IPAdapterModelLoader', 'ipadapter_file', folders)).toBe('ipadapter');
    expect(modelFolderOf('AnyLoader', 'lora_file', folders)).toBe('loras');
    expect(modelFolderOf('AnyLoader', 'ipadapters', folders)).toBeNull();
    expect(modelFolderOf('AnyLoader', 'model_name', folders)).toBeNull();
  });
});
