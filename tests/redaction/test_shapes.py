import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.redaction.shapes import hide_secrets, may_hold_secret

SECRET = "Xq7Kz9Wv3Rt5Lm2P"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("db password=hunter2", "db password=[redacted]"),
        ("ValueError('db password=hunter2')", "ValueError('db password=[redacted]"),
        ("password = 'it is long' and more", "password = '[redacted]' and more"),
        ('{"password": "a\\"b", "n": 1', '{"password": "[redacted]", "n": 1'),
        ('{"password": "a\\" b", "n": 1', '{"password": "[redacted]", "n": 1'),
        ('\\"password\\": \\"a\\\\\\" b\\", \\"n\\": 1', '\\"password\\": \\"[redacted]\\", \\"n\\": 1'),
        ("{'pin': 1234, 'user': 'bob'}", "{'pin': [redacted], 'user': 'bob'}"),
        ('{"token": {"a": [1, "]"]}, "n": 1}', '{"token": [redacted], "n": 1}'),
        ('{"token": ["cut', '{"token": [redacted]'),
        ('password="never closed', 'password="[redacted]"'),
        ('password=""a"b"c d', 'password="[redacted]" d'),
        ('Senha:\\""""""";x', 'Senha:\\"[redacted]\\";x'),
        ('\\"password\\": \\"hun\\", \\"n\\": 1', '\\"password\\": \\"[redacted]\\", \\"n\\": 1'),
        ("Authorization: Digest a, b, c\nHost: x", "Authorization: [redacted]\nHost: x"),
        ("Set-Cookie: id=1; Path=/\nHost: x", "Set-Cookie: [redacted]\nHost: x"),
        ("recovery phrase: one two three\nnext", "recovery phrase: [redacted]\nnext"),
        ("token: Bearer abc", "token: [redacted]"),
        ("invalid api key: abc", "invalid api key: [redacted]"),
        ("run --password hunter2 --verbose", "run --password [redacted] --verbose"),
        ("curl -u bob:hunter2 host", "curl -u [redacted] host"),
        ("user[password]=hunter2", "user[password]=[redacted]"),
        ("https://x.example/?page=2&token=abc", "https://x.example/?page=2&token=[redacted]"),
        ("<user><Password>hunter2</Password></user>", "<user><Password>[redacted]</Password></user>"),
        ("the PIN is 1234, call", "the PIN is [redacted] call"),
        ("token -> 'a b', x", "token -> '[redacted]', x"),
        ("password\u00a0=\u00a0hunter2", "password\u00a0=\u00a0[redacted]"),
        ('{"token"      :\n\n  "a b", "n": 1', '{"token"      :\n\n  "[redacted]", "n": 1'),
        ("password: |\n  hunter2\n  hunter3\nuser: bob", "password: [redacted]\nuser: bob"),
        ("password=b'a b', x", "password=b'[redacted]', x"),
        ("[('Host', 'x'), ('X-Api-Key', 'a b')]", "[('Host', 'x'), ('X-Api-Key', '[redacted]')]"),
        ("(b'x-api-key', b'a b'), (", "(b'x-api-key', b'[redacted]'), ("),
        ("Header(name='token', value='a b')", "Header(name='token', value='[redacted]')"),
        ("{'name': 'token', 'value': 'a b'}", "{'name': 'token', 'value': '[redacted]'}"),
        ("a senha é abc123", "a senha é [redacted]"),
        ("parola este abc123", "parola este [redacted]"),
        ("sent Bearer abcdef123", "sent Bearer [redacted]"),
        ("sent Basic " + base64.b64encode(b"bob:pw").decode(), "sent Basic [redacted]"),
        ("postgres://app:hunter2@db:5432/x", "postgres://[redacted]@db:5432/x"),
        ("postgres://app:hun/ter@2@db:5432/x", "postgres://[redacted]@db:5432/x"),
        ("https://tok3n@host/x", "https://[redacted]@host/x"),
        ("http://a:b@h,http://c:d@h2", "http://[redacted]@h,http://[redacted]@h2"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- after", "[redacted] after"),
        ("-----BEGIN PRIVATE KEY-----\nMII", "[redacted]"),
        (f"jwt {JWT}.", "jwt [redacted]"),
        ("key sk-TEST-123", "key [redacted]"),
        ("sk_live_abcdefgh1234", "[redacted]"),
        ("ghp_0123456789abcdefghij", "[redacted]"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
        ("xoxb-1234-abcd5678", "[redacted]"),
        ("AIzaSyA-0123456789abcdefghij", "[redacted]"),
        ("glpat-0123456789abcd", "[redacted]"),
    ],
)
def test_a_secret_in_a_text_is_hidden_to_its_end(text: str, hidden: str) -> None:
    assert hide_secrets(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "The token has expired",
        "password is incorrect",
        "PIN is required",
        'password authentication failed for user "app"',
        "tokens: 512, tokens_used=512",
        "password=None, token: null",
        "basic understanding of shipping",
        "use sk-learn for risk-assessment, after sk-learning-path",
        "eyJhbGciOiJIUzI1 alone is no token of three parts",
        "https://shop.example:8080/orders/8842?page=2",
        "https://shop.example:8080/a@b",
        "write to ana@shop.example",
        "order: 8842, status: shipped, key: orders/8842, code: 12",
        "2026-11-14T10:30:00 request 550e8400-e29b-41d4-a716-446655440000",
        "city not found: Oslp",
        "use password, token or both",
        "missing fields 'password', name",
        "('order', 'value')",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert hide_secrets(text) == text


PLACES = [
    "password={}", "x password={} y", "x password: {} y", "'secret': '{}', 'n': 1", '"api_key": "{}"}}', "Bearer {}",
    "token=Bearer {} x", "https://bob:{}@host/", "https://{}@host/", "https://h/?a=1&access_token={}&b=2",
    "Cookie: a={}; b={}", "Authorization: Token {}", "--client-secret {} -v", "-u bob:{} x", "<token>{}</token>",
    "my PIN is {}.", "sk-{}", "ghp_{}", "ghp_{}{}", "eyJ{}.{}.{}",
    "-----BEGIN PRIVATE KEY-----\n{}\n{}\n-----END PRIVATE KEY-----", "passphrase: a {} b", '\\"senha\\": \\"{}\\"',
    "[('pwd', '{}')]", "{{'name': 'pwd', 'value': '{}'}}", "pwd -> {}", "pwd: |\n  {}\n", "pwd=b'{} {}'",
    "pwd:={}", "token => {}", "[password={}]", "(secret='{}')", "credentials: [1, '{}', {{'a': '{}'}}] x", "xoxb-{}",
]  # fmt: skip
NOISE = st.text(alphabet="ab =:'\"\\,;{}[]()<>@/&?-_.\n\té", max_size=12)


@given(before=NOISE, after=NOISE, place=st.sampled_from(PLACES))
def test_whatever_stands_around_it_no_part_of_a_secret_is_left(before: str, after: str, place: str) -> None:
    """The text before may not close or open anything inside the place itself, so a line break stands between."""
    hidden = hide_secrets(f"{before}\n{place.format(SECRET, SECRET, SECRET)}\n{after}")

    assert not any(SECRET[start : start + 4] in hidden for start in range(len(SECRET) - 3))


@given(st.text() | st.lists(st.sampled_from(PLACES) | NOISE).map("".join))
def test_hiding_twice_is_hiding_once_and_raises_nothing(text: str) -> None:
    hidden = hide_secrets(text)

    assert hide_secrets(hidden) == hidden


@given(st.lists(st.sampled_from(PLACES) | NOISE | st.text()).map("".join))
def test_the_first_glance_misses_no_secret(text: str) -> None:
    assert may_hold_secret(text) or hide_secrets(text) == text


def test_a_text_that_the_fast_engine_cannot_read_is_looked_at_closely() -> None:
    assert may_hold_secret("\ud800")
    assert hide_secrets("\ud800 password=hunter2") == "\ud800 password=[redacted]"


@pytest.mark.parametrize(
    "piece",
    [
        "sk-", "-eyJ", "://", "://a:b", "://x@", "a@", 'password="', "password: [", '"password": {', '\\"', "\\",
        "bearer ", "-----BEGIN ", "-----BEGIN PRIVATE KEY", "<a ", "<password>", "--password ", "a b ",
        "password is a ", "1:AA", "{", "a]=", "-u a:", "'a', ", "a, value", "a: |\n  ", "a -> ", "password  ", "'pin' ",
    ],
)  # fmt: skip
def test_no_text_makes_the_finders_slow(piece: str) -> None:
    text = (piece * 50_000)[:50_000] + " password "
    started = time.perf_counter()
    hide_secrets(text)

    assert time.perf_counter() - started < 5  # a tenth of a second where it is linear, minutes where it is not
