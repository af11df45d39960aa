"""The whole stack below the window, with the provider that ships: script in, signals and log out."""

from __future__ import annotations

from collections.abc import Callable

from reprise.domain.events import Outcome
from reprise.providers.echo import Echo
from reprise.providers.echo_script import parse_script
from support.bridge import MODEL, BridgeStage, end_of, recorder
from support.engine import texts

Play = Callable[..., None]

SCRIPT = """
[{"fail": {"kind": "rate_limit", "message": "Slow down", "status": 429, "retry_after_s": 3}}]
["Half a rep", {"close": true}]
[{"thinking": "Hm."}, {"wait": 7}, {"repeat": {"text": "word ", "times": 3, "per_s": 2}}, "end"]
"""


def test_a_script_of_faults_plays_through_to_a_reply(play: Play) -> None:
    """D2, D3, D5: a 429, a cut stream, a slow reply; one prompt, one reply and two attempts are on disk."""

    async def scene(stage: BridgeStage) -> None:
        stage.catalog.providers[MODEL] = Echo(stage.clock, parse_script(SCRIPT))
        chat = stage.chat()
        heard = recorder(chat)
        await stage.send(chat)
        await stage.clock.advance(3)
        assert chat.retry_manager.seconds_left == 10
        await stage.clock.advance(10)
        waiting_since = chat.waiting_since
        assert waiting_since == stage.clock.now()
        assert chat.partial is not None
        assert chat.partial.thinking == "Hm."
        await stage.clock.advance(6)
        assert chat.waiting_since == waiting_since
        await stage.clock.advance(3)
        assert end_of(heard).outcome is Outcome.COMPLETED
        assert texts(await stage.stored(chat)) == [("user", "hello"), ("assistant", "word word word end")]
        messages = [attempt.failure and attempt.failure.message for attempt in await stage.attempts(chat)]
        assert (len(messages), messages[0]) == (2, "Slow down")
        await stage.assert_memory_equals_disk(chat)

    play(scene)
