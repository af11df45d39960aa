"""Fuzzy matching for the palette: letters in order, better when they begin words or stand together."""

from __future__ import annotations


def match(query: str, text: str) -> tuple[int, tuple[int, ...]] | None:
    """Score (higher is better) and matched positions of `query` in `text`; None when it does not match."""
    wanted = [char for char in query.casefold() if not char.isspace()]
    if not wanted:
        return 0, ()
    # Character by character, because casefolding the whole may change its length.
    lowered = [char.casefold() for char in text]
    start = "".join(lowered).find("".join(wanted))
    if start >= 0 and len("".join(lowered)) == len(lowered):
        bonus = 40 if start == 0 else 30 if _begins_word(text, start) else 20
        return bonus + 10 * len(wanted) - len(text) // 8, tuple(range(start, start + len(wanted)))
    places: list[int] = []
    score = 0
    at = 0
    for char in wanted:
        found = _next(lowered, text, char, at)
        if found is None:
            return None
        score += 6 if _begins_word(text, found) else 4 if places and found == places[-1] + 1 else 1
        places.append(found)
        at = found + 1
    # Letters scattered inside words are chance, not what was meant.
    return (score - len(text) // 8, tuple(places)) if score >= 3 * len(wanted) else None


def _next(lowered: list[str], text: str, char: str, at: int) -> int | None:
    if at < len(lowered) and lowered[at] == char:
        return at
    later = [place for place in range(at, len(lowered)) if lowered[place] == char]
    return next((place for place in later if _begins_word(text, place)), later[0] if later else None)


def _begins_word(text: str, at: int) -> bool:
    return at == 0 or not text[at - 1].isalnum()
