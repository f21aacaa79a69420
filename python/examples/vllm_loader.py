"""A model loader for vLLM that reads its weights by sherd. UNTRIED: vLLM is not among what we test with.

    from vllm import LLM
    import vllm_loader                                   # registers it
    LLM("folder", load_format="sherd")

The folder is as Hugging Face has it: config.json, and model.safetensors or several shards and their index.
"""

import os

import sherd.torch
from vllm.model_executor.model_loader import register_model_loader
from vllm.model_executor.model_loader.base_loader import BaseModelLoader


@register_model_loader("sherd")
class SherdModelLoader(BaseModelLoader):
    def download_model(self, model_config):
        if not os.path.isdir(model_config.model):
            raise ValueError("load_format='sherd' takes a folder on this machine")

    def load_weights(self, model, model_config):
        index = os.path.join(model_config.model, "model.safetensors.index.json")
        path = index if os.path.exists(index) else os.path.join(model_config.model, "model.safetensors")
        model.load_weights(iter(sherd.torch.load_file(path, verify=True).items()))
