"""Which addresses may be opened, and what is said about where they lead.

An address here is as the parser leaves it: percent-encoded, its host in the form that goes over the wire.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

_WEB = re.compile(r"(https?)://(?:[^/?#@]*@)?([^/?#@]*)(?:[/?#].*)?", re.IGNORECASE)
_MAIL = re.compile(r"mailto:([^?@]+@([^?@]+))(\?.*)?", re.IGNORECASE)
# Beyond ASCII, spaces, control characters and the backslash that browsers take for a slash.
_NEVER = re.compile(r"[^!-\[\]-~]")
_SEVERAL = re.compile(r"[\s\0-\x1f\x7f@,;]")
_ATTACHES = re.compile(r"[?&]attach", re.IGNORECASE)
_HOST = re.compile(r"[a-z0-9._-]+", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_PORT = re.compile(r"(?::[0-9]{0,5})?")
_LAST_PORT = 0xFFFF
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_LONGEST = 64
_LONGEST_ADDRESS = 300
#: Controls that turn the direction of what follows; as visible signs they turn nothing.
TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")

_WORDS = re.compile(r"[\s<>()\[\]{}\"'`,;|\u201c\u201d]+")
_NAMED = re.compile(r"(?:[\w-]+\.)+(?:[^\W\d_]{2,}|xn--[\w-]+)|(?:\d{1,3}\.){3}\d{1,3}")
_DOTS = str.maketrans("\u3002\uff0e\uff61\u2024", "....")
# Endings of files that are countries' too. Said after a scheme, or with a second dot, they are a host.
_FILES = re.compile(r"[\w-]+\.(?:md|py|rs|sh|pl|so|cc|ps|am|in|mk|ml|hs|vi|zip|mov)", re.IGNORECASE)
# Letters that are drawn as Latin ones; a name of nothing else is made to be taken for another.
_TWINS = {
    "CYRILLIC": frozenset("асԁеһіјӏорԛѕԝхуүѵпгьѡ"),
    "GREEK": frozenset("αικνορτυχγηωϲ"),
}
_TOGETHER = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"},
    {"LATIN", "CJK", "HANGUL"},
    {"LATIN", "CJK", "BOPOMOFO"},
)
_NO_LATIN = {0x131, 0x138, 0x149, 0x17F}


@dataclass(frozen=True, slots=True)
class _Target:
    host: str  # lower case, ASCII, an IPv6 address in brackets
    port: str = ""
    mailbox: str = ""  # of a mail, decoded


def is_link(address: str) -> bool:
    """True for what may be opened: http and https with a host that means one thing, and mail to one address."""
    return _target(address) is not None


def _target(address: str) -> _Target | None:
    if _NEVER.search(address):
        return None
    if mail := _MAIL.fullmatch(address):
        host, name = mail[2].lower(), unquote(mail[1].rpartition("@")[0])
        refused = _SEVERAL.search(name) or _ATTACHES.search(unquote(mail[3] or "")) or not _is_host(host)
        return None if refused else _Target(host, mailbox=f"{name}@{host}")
    web = _WEB.fullmatch(address)
    if web is None:
        return None
    host, port = _parted(web[2].lower())
    if not _is_host(host) or not _PORT.fullmatch(port) or int(port[1:] or 0) > _LAST_PORT:
        return None
    port = port[1:]
    return _Target(host, "" if port == _DEFAULT_PORTS[web[1].lower()] else port)


def _parted(place: str) -> tuple[str, str]:
    """Host and port with its colon."""
    end = place.find("]") + 1 if place.startswith("[") else place.find(":")
    return (place[:end], place[end:]) if end > 0 else (place, "")


def _is_host(host: str) -> bool:
    if host.startswith("["):
        try:
            return bool(ipaddress.IPv6Address(host[1:-1]))
        except ValueError:
            return False
    labels = host.removesuffix(".").split(".")
    if not _HOST.fullmatch(host) or len(host) > 253 or not all(0 < len(label) < 64 for label in labels):
        return False
    if not _NUMBER.fullmatch(labels[-1]):
        return not any(label.startswith("-") or label.endswith("-") for label in labels)
    try:  # one number may stand for a whole address, which nobody reads
        return bool(ipaddress.IPv4Address(host))
    except ValueError:
        return False


def host_of(address: str) -> str:
    """Where a link really leads: its host (and port), a mail's address; the address itself where it is no link.

    A host in another script is said in both forms, one that is made to look like another only as it is sent.
    """
    target = _target(address)
    if target is None:
        return _short(address)
    if target.mailbox:
        name = target.mailbox.rpartition("@")[0].translate(TURNING)
        return _short(f"{name}@{_shown(target.host)}")
    return _shown(target.host) + (f":{target.port}" if target.port else "")


def tip_of(address: str) -> str:
    """What is said of a link under the pointer: the host first, then all of it."""
    return f"{host_of(address)}\n{address if len(address) <= _LONGEST_ADDRESS else address[:_LONGEST_ADDRESS] + '…'}"


@lru_cache(maxsize=256)
def mark_of(text: str, address: str) -> str:
    """What must stand after a link whose text names another host than it leads to; "" after one that does not."""
    if "." not in text.translate(_DOTS) and "//" not in text:
        return ""
    target = _target(address)
    if target is None:
        return ""
    real = _bare(target.host)
    for named in _hosts_in(text):
        other = "@" in named and not target.mailbox
        named = named.rpartition("@")[2]
        plain = _bare(_ascii(named))
        if other or not (real == plain or real.endswith(f".{plain}")) or (named != plain and _is_disguised(named)):
            return host_of(address)
    return ""


def _hosts_in(text: str) -> Iterator[str]:
    """The hosts a text names, as it names them; with what stands before an @ there."""
    text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf").translate(_DOTS)
    for word in _WORDS.split(text):
        before, scheme, after = word.partition("//")
        place = re.split(r"[/\\?#]", after if scheme else before, maxsplit=1)[0]
        name = _parted(place.rpartition("@")[2])[0].strip(".").lower()
        if scheme and place:
            yield place.rpartition("@")[0] + "@" * ("@" in place) + name
        elif _NAMED.fullmatch(name) and not _FILES.fullmatch(name):
            yield name


def _bare(host: str) -> str:
    return host.removesuffix(".").removeprefix("www.")


def _ascii(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return host


def _short(text: str) -> str:
    """The end stays: it says whom a host belongs to."""
    return text if len(text) <= _LONGEST else "…" + text[1 - _LONGEST :]


def _shown(host: str) -> str:
    if "xn--" not in host:
        return _short(host)
    try:
        read = ".".join(
            label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label
            for label in host.split(".")
        )
    except UnicodeError:
        return _short(host)
    return _short(host) if _is_disguised(read) or len(host) > _LONGEST else f"{read} ({host})"


def _is_disguised(host: str) -> bool:
    """True where letters of several scripts, or such as are drawn like others, make a name up."""
    return not host.isascii() and any(not label.isascii() and _is_mixed(label) for label in host.split("."))


def _is_mixed(label: str) -> bool:
    letters = [letter for letter in label if letter.isalpha()]
    if not all(letter.isalnum() or letter == "-" or unicodedata.category(letter)[0] == "M" for letter in label):
        return True
    scripts = {unicodedata.name(letter, "NONE").split(" ")[0] for letter in letters}
    if scripts == {"LATIN"}:
        return not all(map(_is_common_latin, letters))
    if len(scripts) == 1:
        return set(letters) <= _TWINS.get(scripts.pop(), frozenset())
    return not any(scripts <= group for group in _TOGETHER)


def _is_common_latin(letter: str) -> bool:
    code = ord(letter)
    return code < 0x80 or (0xDF <= code < 0x250 and code not in _NO_LATIN) or 0x1E00 <= code <= 0x1EFF
