"""The model that comes with Reprise: its file, the child process that serves it, and who looks after that process.

Only `child` imports the engine of the model, and only in the child process; nothing here loads Qt or an HTTP client.
The window talks to the child through the OpenAI-compatible provider, like to any other server.
"""

from __future__ import annotations

from reprise.domain.messages import ModelRef
from reprise.domain.models import ModelInfo, Parameters

PROVIDER = "builtin"
MODEL = "smollm2-135m-instruct"

INFO = ModelInfo(
    ref=ModelRef(PROVIDER, MODEL),
    label="SmolLM2 135M",
    provider_label="Built-in model",
    is_local=True,
    tools=False,  # its chat template drops them without a word
)

PARAMETERS = Parameters(system_prompt="You are a helpful assistant.", temperature=0.2, top_p=0.9, max_tokens=1024)
"""What a model this small answers best with (tried, not published by its makers); it may fall into a loop, and the
limit ends that."""
