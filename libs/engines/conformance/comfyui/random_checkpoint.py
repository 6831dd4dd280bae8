"""Writes a checkpoint of Stable Diffusion 1.5's shape, its weights by chance, for tests on a GPU: nothing is downloaded.

Run in ComfyUI's folder: python random_checkpoint.py FILE. About 2 GB; what is made with it shows noise.
"""

import sys

sys.argv, (_, path) = [sys.argv[0], "--cpu"], sys.argv
sys.path.insert(0, ".")

import comfy.options

comfy.options.enable_args_parsing()

import torch
from safetensors.torch import save_file

import comfy.ops
import comfy.sd1_clip
from comfy.ldm.models.autoencoder import AutoencoderKL
from comfy.ldm.modules.diffusionmodules.openaimodel import UNetModel

UNET = {
    "image_size": 32,
    "in_channels": 4,
    "out_channels": 4,
    "model_channels": 320,
    "num_res_blocks": [2, 2, 2, 2],
    "channel_mult": [1, 2, 4, 4],
    "transformer_depth": [1, 1, 1, 1, 1, 1, 0, 0],
    "transformer_depth_output": [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0],
    "transformer_depth_middle": 1,
    "context_dim": 768,
    "use_spatial_transformer": True,
    "num_heads": 8,
    "legacy": False,
}
VAE = {
    "double_z": True,
    "z_channels": 4,
    "resolution": 256,
    "in_channels": 3,
    "out_ch": 3,
    "ch": 128,
    "ch_mult": [1, 2, 4, 4],
    "num_res_blocks": 2,
    "attn_resolutions": [],
    "dropout": 0.0,
}

with torch.device("meta"):
    parts = {
        "model.diffusion_model.": UNetModel(**UNET, dtype=torch.float16, operations=comfy.ops.disable_weight_init),
        "first_stage_model.": AutoencoderKL(ddconfig=VAE, embed_dim=4),
        "cond_stage_model.": comfy.sd1_clip.SDClipModel(device="meta", dtype=torch.float16),
    }

random = torch.Generator().manual_seed(1)
weights = {}
for prefix, module in parts.items():
    for name, value in module.state_dict().items():
        if not value.is_floating_point():
            continue
        size = value[0].numel() if value.dim() > 1 else 0
        # Of the size that keeps numbers as they go through a layer; biases nothing, scales one.
        if size:
            weight = torch.randn(value.shape, generator=random) / size**0.5
        else:
            weight = torch.zeros(value.shape) if name.endswith("bias") else torch.ones(value.shape)
        weights[prefix + name] = weight.half()
save_file(weights, path)
