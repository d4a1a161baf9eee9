"""Build modules apart from PyTorch's global settings, which belong to the reader.

    with Seeded(0):
        model = Decoder(config)        # in float32 on the CPU, its weights drawn from seed 0

Neither the global generator nor the default dtype or device is read or moved. Not even for a moment: to save
and restore them would race with whatever the reader runs in another thread meanwhile. A mode holds for the
`with` of its own thread alone.
"""

import torch
from torch import nn
from torch.overrides import TorchFunctionMode


class _Apart(TorchFunctionMode):
    """Within the `with`, parameters are float32 on `device`, whatever the defaults are."""

    def __init__(self, device: str = "cpu"):
        super().__init__()
        self.device = device

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function is torch.empty:  # what modules make their parameters with
            given = {name: value for name, value in kwargs.items() if value is not None}
            kwargs = {"dtype": torch.float32, "device": self.device} | given
        return function(*args, **kwargs)


class Seeded(_Apart):
    """Within the `with`, modules draw their first values from `generator`, which begins at `seed`."""

    def __init__(self, seed: int):
        super().__init__()
        self.generator = torch.Generator().manual_seed(seed)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if "generator" in kwargs and kwargs["generator"] is None:
            kwargs = kwargs | {"generator": self.generator}
        return super().__torch_function__(function, types, args, kwargs)


class Undrawn(_Apart):
    """Within the `with`, modules get no first values: others follow at once, or shapes are all that is asked.

    On the meta device, which holds no values, drawing would load a compiler for seconds.
    """

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(function, "__module__", None) == nn.init.__name__:
            return kwargs["tensor"] if "tensor" in kwargs else args[0]
        return super().__torch_function__(function, types, args, kwargs)
