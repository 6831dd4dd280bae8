/**
 * Classes of ComfyUI's own nodes that make equal outputs of equal inputs, by the Python module that defines them: all they use is in
 * the graph, their randomness comes from a seed that is an input, and models are named (as in ComfyUI's own cache, a file of weights is
 * what its name says). `LoadImageOutput` reads what earlier runs left and is not among them. A class of the same name from
 * another module is another class.
 */
const CLASSES: Record<string, string> = {
  nodes: `
    CLIPLoader CLIPSetLastLayer CLIPTextEncode CLIPVisionEncode CLIPVisionLoader CheckpointLoader CheckpointLoaderSimple
    ConditioningAverage ConditioningCombine ConditioningConcat ConditioningSetArea ConditioningSetAreaPercentage
    ConditioningSetAreaStrength ConditioningSetMask ConditioningSetTimestepRange ConditioningZeroOut ControlNetApply
    ControlNetApplyAdvanced ControlNetLoader DiffControlNetLoader DualCLIPLoader EmptyImage EmptyLatentImage GLIGENLoader
    GLIGENTextBoxApply ImageBatch ImageInvert ImagePadForOutpaint ImageScale ImageScaleBy InpaintModelConditioning
    KSampler KSamplerAdvanced LatentBlend LatentComposite LatentCrop LatentFlip LatentFromBatch LatentRotate LatentUpscale
    LatentUpscaleBy LoadImage LoadImageMask LoadLatent LoraLoader LoraLoaderModelOnly PreviewImage RepeatLatentBatch
    SaveImage SaveLatent SetLatentNoiseMask StyleModelApply StyleModelLoader UNETLoader VAEDecode VAEDecodeTiled VAEEncode
    VAEEncodeForInpaint VAEEncodeTiled VAELoader unCLIPCheckpointLoader unCLIPConditioning
  `,
  'comfy_extras.nodes_latent': `
    LatentAdd LatentApplyOperation LatentApplyOperationCFG LatentBatch LatentBatchSeedBehavior LatentConcat LatentCut
    LatentInterpolate LatentMultiply LatentOperationSharpen LatentOperationTonemapReinhard LatentSubtract
  `,
  'comfy_extras.nodes_upscale_model': `
    ImageUpscaleWithModel UpscaleModelLoader
  `,
  'comfy_extras.nodes_post_processing': `
    ImageBlend ImageBlur ImageQuantize ImageScaleToTotalPixels ImageSharpen
  `,
  'comfy_extras.nodes_mask': `
    CropMask FeatherMask GrowMask ImageColorToMask ImageCompositeMasked ImageToMask InvertMask LatentCompositeMasked
    MaskComposite MaskPreview MaskToImage SolidMask ThresholdMask
  `,
  'comfy_extras.nodes_compositing': `
    JoinImageWithAlpha PorterDuffImageComposite SplitImageWithAlpha
  `,
  'comfy_extras.nodes_rebatch': `
    RebatchImages RebatchLatents
  `,
  'comfy_extras.nodes_clip_sdxl': `
    CLIPTextEncodeSDXL CLIPTextEncodeSDXLRefiner
  `,
  'comfy_extras.nodes_freelunch': `
    FreeU FreeU_V2
  `,
  'comfy_extras.nodes_custom_sampler': `
    AddNoise BasicGuider BasicScheduler BetaSamplingScheduler CFGGuider DisableNoise DualCFGGuider ExponentialScheduler
    ExtendIntermediateSigmas FlipSigmas KSamplerSelect KarrasScheduler LaplaceScheduler PolyexponentialScheduler
    RandomNoise SDTurboScheduler SamplerCustom SamplerCustomAdvanced SamplerDPMAdaptative SamplerDPMPP_2M_SDE
    SamplerDPMPP_2S_Ancestral SamplerDPMPP_3M_SDE SamplerDPMPP_SDE SamplerER_SDE SamplerEulerAncestral
    SamplerEulerAncestralCFGPP SamplerLMS SamplerSASolver SamplingPercentToSigma SetFirstSigma SplitSigmas
    SplitSigmasDenoise VPScheduler
  `,
  'comfy_extras.nodes_images': `
    GetImageSize ImageAddNoise ImageCrop ImageFlip ImageFromBatch ImageRotate ImageScaleToMaxDimension ImageStitch
    RepeatImageBatch ResizeAndPadImage SaveAnimatedPNG SaveAnimatedWEBP SaveSVGNode
  `,
  'comfy_extras.nodes_sd3': `
    CLIPTextEncodeSD3 ControlNetApplySD3 EmptySD3LatentImage SkipLayerGuidanceSD3 TripleCLIPLoader
  `,
  'comfy_extras.nodes_flux': `
    CLIPTextEncodeFlux FluxDisableGuidance FluxGuidance FluxKontextImageScale FluxKontextMultiReferenceLatentMethod
  `,
  'comfy_extras.nodes_string': `
    CaseConverter RegexExtract RegexMatch RegexReplace StringCompare StringConcatenate StringContains StringLength
    StringReplace StringSubstring StringTrim
  `,
  'comfy_extras.nodes_primitive': `
    PrimitiveBoolean PrimitiveFloat PrimitiveInt PrimitiveString PrimitiveStringMultiline
  `,
  'comfy_extras.nodes_cond': `
    CLIPTextEncodeControlnet T5TokenizerOptions
  `,
  'comfy_extras.nodes_differential_diffusion': `
    DifferentialDiffusion
  `,
  'comfy_extras.nodes_pag': `
    PerturbedAttentionGuidance
  `,
  'comfy_extras.nodes_cfg': `
    CFGNorm CFGZeroStar
  `,
  'comfy_extras.nodes_preview_any': `
    PreviewAny
  `,
  'comfy_extras.nodes_model_advanced': `
    ModelSamplingAuraFlow ModelSamplingContinuousEDM ModelSamplingContinuousV ModelSamplingDiscrete ModelSamplingFlux
    ModelSamplingSD3 ModelSamplingStableCascade RescaleCFG
  `,
  'comfy_extras.nodes_edit_model': `
    ReferenceLatent
  `,
  'comfy_extras.nodes_controlnet': `
    ControlNetInpaintingAliMamaApply SetUnionControlNetType
  `,
};

const NAMES = new Map(Object.entries(CLASSES).map(([module, names]) => [module, new Set(names.split(/\s+/))]));

/** Whether a class, defined by a Python module of `/object_info`, is declared to make equal outputs of equal inputs. */
export function isDeterministic(name: string, module: string): boolean {
  return name !== '' && (NAMES.get(module)?.has(name) ?? false);
}
