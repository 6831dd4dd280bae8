"""Nodes that misbehave on demand: the simulator's test nodes, for a real ComfyUI.

Link this folder into ComfyUI's `custom_nodes` to run `npm run test:comfyui`. Never on a server that others use.
"""

import asyncio
import ctypes
import json
import logging
import os
import sys
import time

import torch
from PIL import Image

import comfy.model_patcher
import comfy.supported_models
import comfy.utils
from comfy_execution.graph_utils import ExecutionBlocker, GraphBuilder
from server import PromptServer

SALT = ("INT", {"default": 0, "min": 0, "max": 0xFFFFFFFFFFFFFFFF})
STEPS = ("INT", {"default": 3, "min": 0, "max": 100000})
SECONDS = ("FLOAT", {"default": 0.05, "min": 0.0, "max": 3600.0})
TEXT = ("STRING", {"default": "", "multiline": True})
FLAG = ("BOOLEAN", {"default": False})
# As PyTorch raises them where a GPU has no memory left, or takes no more work.
RAISED = {
    "RuntimeError": RuntimeError,
    "ValueError": ValueError,
    "SystemExit": SystemExit,
    "OutOfMemoryError": torch.cuda.OutOfMemoryError,
    "AcceleratorError": getattr(torch, "AcceleratorError", RuntimeError),
}


def grey(size=16):
    return torch.full((1, size, size, 3), 0.5)


class TestNode:
    FUNCTION = "run"
    CATEGORY = "test"
    RETURN_TYPES = ("IMAGE",)


class TestSteps(TestNode):
    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {"steps": STEPS, "seconds_per_step": SECONDS, "salt": SALT},
            "optional": {"image": ("IMAGE",)},
        }

    def run(self, steps, seconds_per_step, salt, image=None):
        bar = comfy.utils.ProgressBar(steps)
        for _ in range(steps):
            time.sleep(seconds_per_step)
            bar.update(1)
        return (grey() if image is None else image,)


class TestPreview(TestNode):
    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "steps": STEPS,
                "seconds_per_step": SECONDS,
                "format": (["JPEG", "PNG"],),
                "size": ("INT", {"default": 96}),
                "salt": SALT,
            }
        }

    def run(self, steps, seconds_per_step, format, size, salt):
        bar = comfy.utils.ProgressBar(steps)
        for step in range(steps):
            time.sleep(seconds_per_step)
            picture = Image.new("RGB", (size, size), (step * 40 % 256, 90, 160))
            bar.update_absolute(step + 1, steps, (format, picture, size))
        return (grey(size),)


class TestFail(TestNode):
    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "message": TEXT,
                "after_steps": STEPS,
                "kind": (list(RAISED),),
                "salt": SALT,
            },
            "optional": {"image": ("IMAGE",)},
        }

    def run(self, message, after_steps, kind, salt, image=None):
        bar = comfy.utils.ProgressBar(after_steps * 2)
        for _ in range(after_steps):
            bar.update(1)
        raise RAISED[kind](message)


class TestAbort(TestNode):
    """Ends the whole process as C++ does with an exception that nobody catches."""

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"what": TEXT, "salt": SALT}}

    def run(self, what, salt):
        os.write(2, f"terminate called after throwing an instance of 'test'\n  what():  {what}\n".encode())
        os.abort()


class TestSleep(TestNode):
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"seconds": SECONDS, "salt": SALT}}

    def run(self, seconds, salt):
        time.sleep(seconds)
        return (grey(),)


class TestAsync(TestNode):
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"seconds": SECONDS, "salt": SALT}}

    async def run(self, seconds, salt):
        bar = comfy.utils.ProgressBar(4)
        for _ in range(4):
            await asyncio.sleep(seconds / 4)
            bar.update(1)
        return (grey(),)


class TestBlock(TestNode):
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"message": TEXT, "salt": SALT}}

    def run(self, message, salt):
        return (ExecutionBlocker(message or None),)


class TestExpand(TestNode):
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"n": STEPS, "fail": FLAG, "preview": FLAG, "salt": SALT}}

    def run(self, n, fail, preview, salt):
        graph = GraphBuilder()
        last = None
        for at in range(n):
            inputs = {"steps": 3, "seconds_per_step": 0.02, "salt": salt + at}
            if last is not None:
                inputs["image"] = last
            last = graph.node("TestSteps", **inputs).out(0)
        if fail:
            inputs = {"message": "inner boom", "after_steps": 1, "kind": "RuntimeError", "salt": 0, "image": last}
            last = graph.node("TestFail", **inputs).out(0)
        if preview:
            graph.node("PreviewImage", images=last)
        return {"result": (last,), "expand": graph.finalize()}


class TestText(TestNode):
    RETURN_TYPES = ("STRING",)

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"text": TEXT}, "hidden": {"unique_id": "UNIQUE_ID"}}

    def run(self, text, unique_id=None):
        PromptServer.instance.send_progress_text(f"progress: {text}", unique_id)
        return {"ui": {"text": [text]}, "result": (text,)}


class TestStdout(TestNode):
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"text": TEXT, "lines": STEPS, "salt": SALT}}

    def run(self, text, lines, salt):
        for line in range(lines):
            print(f"STDOUT {text} {line}")
            logging.info(f"LOGGING {text} {line}")
        sys.stdout.write("the last words, with no line break")
        return (grey(),)


class TestTinyModel(TestNode):
    """A diffusion model of the smallest size, with weights by chance, and a conditioning: samplers run as ever."""

    RETURN_TYPES = ("MODEL", "CONDITIONING")

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"channels": STEPS, "seed": SALT}}

    def run(self, channels, seed):
        torch.manual_seed(seed % 2**63)
        shape = {
            "image_size": 32,
            "in_channels": 4,
            "out_channels": 4,
            "model_channels": channels,
            "num_res_blocks": [1, 1],
            "channel_mult": [1, 2],
            "transformer_depth": [1, 1],
            "transformer_depth_output": [1, 1, 1, 1],
            "transformer_depth_middle": 1,
            "context_dim": 768,
            "use_spatial_transformer": True,
            "use_linear_in_transformer": False,
            "use_temporal_attention": False,
            "adm_in_channels": None,
            "num_heads": -1,
            "num_head_channels": 8,
            "legacy": False,
            "dtype": torch.float32,
        }
        config = comfy.supported_models.SD15(shape)
        config.set_inference_dtype(torch.float32, None)
        cpu = torch.device("cpu")
        model = comfy.model_patcher.ModelPatcher(config.get_model({}, ""), load_device=cpu, offload_device=cpu)
        return (model, [[torch.zeros(1, 77, 768), {}]])


class TestGpuFault(TestNode):
    """Breaks the process's use of its GPU, for good: NVIDIA only."""

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"kind": (["assertion", "illegal access"],), "salt": SALT}}

    def run(self, kind, salt):
        values = torch.zeros(1, device="cuda")
        if kind == "assertion":
            values[torch.tensor([5], device="cuda")].cpu()
        else:
            launch(ILLEGAL_ACCESS, b"fault")
            torch.cuda.synchronize()
        return (grey(),)


# Writes to address 8, which is nobody's.
ILLEGAL_ACCESS = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry fault()
{
    .reg .u64 %address;
    .reg .u32 %value;
    mov.u64 %address, 8;
    mov.u32 %value, 1;
    st.global.u32 [%address], %value;
    ret;
}
"""


def launch(source, name):
    """Starts one thread of a kernel given as PTX, in the context that PyTorch works in."""
    driver = ctypes.CDLL("libcuda.so.1")
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    steps = (
        lambda: driver.cuModuleLoadData(ctypes.byref(module), source),
        lambda: driver.cuModuleGetFunction(ctypes.byref(kernel), module, name),
        lambda: driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None),
    )
    for step in steps:
        if code := step():
            raise ValueError(f"The driver of the GPU refused the kernel: {code}.")


class TestLatentToImage(TestNode):
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"samples": ("LATENT",)}}

    def run(self, samples):
        return (samples["samples"][:, :3].movedim(1, -1).clamp(0, 1),)


class TestCustomUI(TestNode):
    RETURN_TYPES = ()
    OUTPUT_NODE = True

    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"ui_json": TEXT, "salt": SALT}}

    def run(self, ui_json, salt):
        return {"ui": json.loads(ui_json)}


NODES = (
    TestSteps,
    TestPreview,
    TestFail,
    TestAbort,
    TestSleep,
    TestAsync,
    TestBlock,
    TestExpand,
    TestText,
    TestStdout,
    TestTinyModel,
    TestGpuFault,
    TestLatentToImage,
    TestCustomUI,
)
NODE_CLASS_MAPPINGS = {node.__name__: node for node in NODES}
