import pytest
from test_conversation_retry import test_esc_cancels_the_wait_only_and_retry_completes_the_turn as story
@pytest.mark.parametrize("n", range(60))
def test_rep(play, n):
    story(play)
