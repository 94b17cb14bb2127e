from __future__ import annotations

import json
from typing import Any

import pytest

from harness.leaderboards.bfcl.apis.common import Api, get_public_state
from tests.leaderboards.bfcl.apis.scenes import an_api, text_of


def an_account(**scenario: Any) -> Api:
    return an_api("TwitterAPI", **{"authenticated": True, **scenario})


def test_the_right_password_logs_in() -> None:
    account = an_account(authenticated=False)
    assert (
        text_of(account, "authenticate_twitter", username="ann", password="?")
        == '{"authentication_status": false}'
    )
    assert text_of(account, "posting_get_login_status") == '{"login_status": false}'
    assert text_of(account, "authenticate_twitter", username="ann", password="secret") == (
        '{"authentication_status": true}'
    )
    assert text_of(account, "posting_get_login_status") == '{"login_status": true}'


@pytest.mark.parametrize(
    ("tool", "arguments", "doing"),
    [
        ("post_tweet", {"content": "x"}, "posting"),
        ("retweet", {"tweet_id": 3}, "retweeting"),
        ("comment", {"tweet_id": 3, "comment_content": "x"}, "commenting"),
        ("follow_user", {"username_to_follow": "x"}, "following"),
        ("unfollow_user", {"username_to_unfollow": "ben"}, "unfollowing"),
        ("list_all_following", {}, "listing following"),
    ],
)
def test_a_stranger_is_refused_and_changes_nothing(
    tool: str, arguments: dict[str, Any], doing: str
) -> None:
    account = an_account(authenticated=False)
    before = repr(get_public_state(account))
    assert text_of(account, tool, **arguments) == (
        f'{{"error": "User not authenticated. Please authenticate before {doing}."}}'
    )
    assert repr(get_public_state(account)) == before


def test_a_post_gets_the_next_number() -> None:
    account = an_account()
    posted = json.loads(text_of(account, "post_tweet", content="Hi", tags=["#a"]))
    assert posted == {"id": 4, "username": "ann", "content": "Hi", "tags": ["#a"], "mentions": []}
    assert json.loads(text_of(account, "get_tweet", tweet_id=4)) == posted
    assert get_public_state(account)["tweet_counter"] == 5


def test_posts_without_mentions_share_one_list_of_them_as_upstream() -> None:
    account = an_account()
    text_of(account, "post_tweet", content="one")
    text_of(account, "post_tweet", content="two", mentions=["@eve"])
    assert text_of(account, "mention", tweet_id=4, mentioned_usernames=["@ben"]) == (
        '{"mention_status": "Users mentioned successfully"}'
    )
    assert json.loads(text_of(account, "get_tweet", tweet_id=4))["mentions"] == ["@ben"]
    assert json.loads(text_of(account, "get_tweet", tweet_id=5))["mentions"] == ["@eve"]
    assert json.loads(text_of(account, "post_tweet", content="three"))["mentions"] == ["@ben"]
    assert json.loads(text_of(an_account(), "post_tweet", content="four"))["mentions"] == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_tweet", {}),
        ("get_tweet_comments", {}),
        ("retweet", {}),
        ("comment", {"comment_content": "x"}),
        ("mention", {"mentioned_usernames": []}),
    ],
)
def test_a_post_that_is_not_there_is_not_found(tool: str, arguments: dict[str, Any]) -> None:
    assert (
        text_of(an_account(), tool, tweet_id=99, **arguments)
        == '{"error": "Tweet with ID 99 not found."}'
    )


def test_a_post_is_repeated_once_and_commented_on_as_often_as_one_likes() -> None:
    account = an_account()
    said = [text_of(account, "retweet", tweet_id=3) for _ in range(2)]
    assert said == [
        '{"retweet_status": "Successfully retweeted"}',
        '{"retweet_status": "Already retweeted"}',
    ]
    assert text_of(account, "get_tweet_comments", tweet_id=3) == "[]"
    for text in ("a", "b"):
        answer = text_of(account, "comment", tweet_id=3, comment_content=text)
        assert answer == '{"comment_status": "Comment added successfully"}'
    assert text_of(account, "get_tweet_comments", tweet_id=3) == (
        "[{'username': 'ann', 'content': 'a'}, {'username': 'ann', 'content': 'b'}]"
    )


def test_one_follows_and_unfollows_once() -> None:
    account = an_account()
    said = [text_of(account, "follow_user", username_to_follow="cid") for _ in range(2)]
    assert said == ['{"follow_status": true}', '{"follow_status": false}']
    assert text_of(account, "list_all_following") == '{"following_list": ["ben", "cid"]}'
    said = [text_of(account, "unfollow_user", username_to_unfollow="cid") for _ in range(2)]
    assert said == ['{"unfollow_status": true}', '{"unfollow_status": false}']


def test_posts_are_found_by_words_and_tags_in_any_case_and_by_author() -> None:
    account = an_account()
    text_of(account, "post_tweet", content="quiet", tags=["#Loud"])
    assert "Hello World" in text_of(account, "search_tweets", keyword="hello")
    assert "quiet" in text_of(account, "search_tweets", keyword="#LOUD")
    assert text_of(account, "search_tweets", keyword="loud") == "[]"
    assert "Hello World" in text_of(account, "get_user_tweets", username="ben")
    text_of(account, "retweet", tweet_id=3)
    assert text_of(account, "get_user_stats", username="ann") == (
        '{"tweet_count": 1, "following_count": 1, "retweet_count": 1}'
    )
    assert text_of(account, "get_user_stats", username="ben") == (
        '{"tweet_count": 1, "following_count": 0, "retweet_count": 0}'
    )
