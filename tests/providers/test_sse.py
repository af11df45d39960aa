"""The event stream decoder."""

from __future__ import annotations

import pytest

from reprise.domain.failures import CompletionError, FailureKind
from reprise.providers.sse import ServerEvent, SseDecoder


def decode(*pieces: bytes) -> list[ServerEvent]:
    decoder = SseDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.flush()


@pytest.mark.parametrize("blank", [b"\n\n", b"\r\r", b"\r\n\r\n", b"\n\r\n", b"\r\n\r", b"\n\r", b"\r\n\n"])
def test_an_event_comes_out_with_the_bytes_that_end_it(blank: bytes) -> None:
    """CR, LF and CRLF end a line, mixed freely, and an open connection shows the event at once."""
    decoder = SseDecoder()
    events = [event for byte in b"data: a" + blank for event in decoder.feed(bytes([byte]))]
    assert events == [ServerEvent("a")]
    assert decoder.feed(b"data: b\n\n") == [ServerEvent("b")]


def test_a_line_feed_after_a_chunk_that_ended_with_cr_is_no_blank_line() -> None:
    """W003: CRLF cut between CR and LF gives neither a phantom blank line nor a doubled event."""
    assert decode(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n") == [ServerEvent("a\nb")]


@pytest.mark.parametrize(
    ("line", "data"),
    [
        (b"data:a", "a"),
        (b"data: a", "a"),
        (b"data:  a", " a"),
        (b"data:", ""),
        (b"data", ""),
        (b"data: a: b", "a: b"),
    ],
)
def test_at_most_one_space_after_the_colon_goes(line: bytes, data: str) -> None:
    assert decode(line + b"\n\n") == [ServerEvent(data)]


def test_fields_without_data_make_no_event() -> None:
    """Comments, id, retry and unknown fields say nothing; a name belongs to its own event only."""
    stream = b": hello\n\nretry: 3000\n\nid: 7\nfoo: bar\n\nevent: lost\n\nevent: ping\ndata: a\n\ndata: b\n\n"
    assert decode(stream) == [ServerEvent("a", "ping"), ServerEvent("b")]


def test_data_lines_of_one_event_are_joined_by_line_feeds() -> None:
    assert decode(b"data: {\ndata: \ndata: }\n\n") == [ServerEvent("{\n\n}")]


def test_only_cr_and_lf_end_a_line() -> None:
    """U+2028, U+2029, U+0085, vertical tab and form feed arrive unchanged."""
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf"
    assert decode(f"data: {text}\n\n".encode()) == [ServerEvent(text)]


def test_a_byte_order_mark_goes_only_at_the_start() -> None:
    """F50's neighbours: a mark before the first field is none of the field's name."""
    assert decode(b"\xef\xbb", b"\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n") == [ServerEvent("a")]


def test_characters_cut_by_the_network_are_whole() -> None:
    """No replacement character at any moment."""
    body = "data: 修复😀\n\n".encode()
    for cut in range(len(body)):
        assert decode(body[:cut], body[cut:]) == [ServerEvent("修复😀")]


def test_bytes_that_are_no_utf_8_do_not_stop_the_stream() -> None:
    """One bad byte costs one character."""
    assert decode(b"data: a\xffb\n\n") == [ServerEvent("a\ufffdb")]


def test_the_end_flushes_an_event_without_its_blank_line() -> None:
    assert decode(b"data: a") == [ServerEvent("a")]
    assert decode(b"data: a\n") == [ServerEvent("a")]
    assert decode(b"data: a\n\n") == [ServerEvent("a")]
    assert decode() == []


def test_an_error_field_is_an_error_event() -> None:
    """W044: older llama.cpp servers write `error:` where `data:` belongs."""
    assert decode(b'error: {"code":500}\n\n') == [ServerEvent('{"code":500}', "error")]


def test_bare_json_in_the_middle_of_a_stream_is_an_event() -> None:
    """F59's kind: a proxy that gives up writes its error without a field name."""
    assert decode(b'data: a\n\n{"error":"gone"}') == [ServerEvent("a"), ServerEvent('{"error":"gone"}')]


@pytest.mark.parametrize("filler", [b"x", b"data: xxxxxxxx\n"])
def test_an_event_over_the_cap_is_a_protocol_failure(filler: bytes) -> None:
    """An endless line and an endless event are both refused before they fill the memory."""
    decoder = SseDecoder(max_event_bytes=1000)
    with pytest.raises(CompletionError) as caught:
        for _ in range(2000):
            decoder.feed(b"data: " * (filler == b"x") + filler)
    assert caught.value.failure.kind is FailureKind.PROTOCOL
    assert caught.value.failure.retryable


def test_the_cap_counts_one_event_not_the_stream() -> None:
    """A long reply of small events is no large event."""
    decoder = SseDecoder(max_event_bytes=1000)
    events = [event for _ in range(100) for event in decoder.feed(b"data: " + b"x" * 900 + b"\n\n")]
    assert len(events) == 100
