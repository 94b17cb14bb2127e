"""Which proxy stands for an address, whatever the environment says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import UsageError
from harness.base.network import find_proxy, is_loopback

VARIABLES = st.sampled_from(["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
URLS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "http://", "https://", "socks5://", "socks4://", "://", "HTTP://"]),
    st.sampled_from(["", "ada:s3cr3t-s3cr3t@"]),
    st.sampled_from(["proxy.example", "[::1]", "[", "", "garbage", "10.0.0.1", "a b", "ü.example"]),
    st.sampled_from(["", ":3128", ":x", ":0", ":99999", "/", ":80/path"]),
)


@given(environ=st.dictionaries(VARIABLES, URLS | TEXTS))
def test_what_is_named_is_used_whole_or_refused_in_words_without_a_password(
    environ: dict[str, str],
) -> None:
    try:
        proxy, refusal = find_proxy("http://far.example/v1", environ), None
    except UsageError as error:
        proxy, refusal = None, error
    if refusal is not None:
        assert any(name in str(refusal) for name in environ)
        assert "s3cr3t" not in f"{refusal} {refusal.meant}"
    if proxy is not None:
        assert proxy.url.endswith(environ[proxy.variable].strip())
        assert "s3cr3t" not in repr(proxy)


@given(
    environ=st.dictionaries(VARIABLES, URLS | TEXTS),
    host=st.sampled_from(["localhost", "LOCALHOST.", "shop.localhost", "[::1]"])
    | st.ip_addresses(v=4, network="127.0.0.0/8").map(str),
)
def test_this_machine_is_asked_directly_whatever_is_named(
    environ: dict[str, str], host: str
) -> None:
    assert find_proxy(f"http://{host}:8000/v1", environ) is None


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        ("localhost", True),
        ("LOCALHOST", True),
        ("shop.localhost", True),
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", True),
        ("[::]", True),
        ("::ffff:0.0.0.0", True),
        ("127.1", True),
        ("2130706433", True),
        ("0x7f.0.0.1", True),
        ("ip6-localhost", True),
        ("localhost.localdomain", True),
        ("127.0.0.1.nip.io", False),
        ("host.docker.internal", False),
        ("1.1", False),
        ("", False),
        ("10.0.0.1", False),
        ("localhost.example.com", False),
        ("example.com", False),
    ],
)
def test_this_machine_is_known(host: str, is_ours: bool) -> None:
    assert is_loopback(host) == is_ours


@pytest.mark.parametrize(
    ("exempt", "url", "is_exempt"),
    [
        ("*", "http://far.example", True),
        ("far.example", "http://far.example", True),
        ("example", "http://far.example", True),
        (".example", "http://far.example", True),
        ("*.example", "http://far.example", True),
        ("x,far.example", "http://FAR.example.:80", True),
        ("far.example:8080", "http://far.example", False),
        ("far.example:80", "http://far.example", True),
        ("ar.example", "http://far.example", False),
        ("10.0.0.0/8", "http://10.1.2.3", True),
        ("10.0.0.0/8", "http://11.1.2.3", False),
        ("10.1.2.3", "http://10.1.2.3:9", True),
        ("2001:db8::/32", "http://[2001:db8:0:1::2]/", True),
        ("2001:db8:0:1::2", "http://[2001:db8:0:1::2]/", True),
        ("[2001:db8::2]:443", "https://[2001:db8::2]/", True),
        ("", "http://far.example", False),
        (" , ", "http://far.example", False),
    ],
)
def test_what_is_exempt_is_asked_directly(exempt: str, url: str, is_exempt: bool) -> None:
    environ = {"ALL_PROXY": "http://proxy.example:3128", "NO_PROXY": exempt}
    assert (find_proxy(url, environ) is None) == is_exempt


@pytest.mark.parametrize(
    ("environ", "url", "variable"),
    [
        ({"http_proxy": "http://a:1", "HTTP_PROXY": "http://b:1"}, "http://x.y", "http_proxy"),
        ({"http_proxy": "", "HTTP_PROXY": "http://b:1"}, "http://x.y", None),
        ({"http_proxy": "", "ALL_PROXY": "http://b:1"}, "http://x.y", "ALL_PROXY"),
        ({"HTTPS_PROXY": "http://b:1", "all_proxy": "c:1"}, "https://x.y", "HTTPS_PROXY"),
        ({"HTTPS_PROXY": "http://b:1", "all_proxy": "c:1"}, "http://x.y", "all_proxy"),
        ({"HTTPS_PROXY": "http://b:1"}, "http://x.y", None),
    ],
)
def test_the_variable_that_counts_is_the_nearest(
    environ: dict[str, str], url: str, variable: str | None
) -> None:
    proxy = find_proxy(url, environ)
    assert (proxy and proxy.variable) == variable
