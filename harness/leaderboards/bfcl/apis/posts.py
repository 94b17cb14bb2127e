"""The short-message service of the leaderboard."""

from __future__ import annotations

from typing import Any

from harness.leaderboards.bfcl.apis.common import Api, Reply, Scenario, Tables, refuse_request

_NOT_GIVEN: Any = object()
"""Stands for a list that was not passed; ``None`` is a value of its own."""


class TwitterAPI(Api):
    """One user's account, and everybody's posts."""

    username: str
    password: str
    authenticated: bool
    comments: dict[Any, list[dict[str, str]]]
    retweets: dict[str, list[int]]
    following_list: list[str]
    tweet_counter: int

    def __init__(self, scenario: Scenario, tables: Tables, *, long_context: bool = False) -> None:
        """Take attributes from ``scenario``, and the others from the defaults in the tables."""
        super().__init__(scenario, tables, long_context=long_context)
        self._nobody: list[str] = []
        # In JSON, keys are texts.
        self.tweets: dict[int, dict[str, Any]] = {
            int(key): tweet for key, tweet in self._initial_value("tweets").items()
        }

    def _share_state(self, other: Api) -> None:
        """Share the mentions of tweets that were posted without mentions.

        Upstream they are one list, the default value of a parameter: a mention in one such tweet
        appears in all of them, including those of the expected calls.
        """
        assert isinstance(other, TwitterAPI)
        self._nobody = other._nobody  # noqa: SLF001 - it is one of this class

    def authenticate_twitter(self, username: str, password: str) -> Reply:
        """Log the user in."""
        right = username == self.username and password == self.password
        if right:
            self.authenticated = True
        return {"authentication_status": right}

    def posting_get_login_status(self) -> Reply:
        """Say whether the user is logged in."""
        return {"login_status": bool(self.authenticated)}

    def post_tweet(
        self, content: str, tags: list[str] = _NOT_GIVEN, mentions: list[str] = _NOT_GIVEN
    ) -> Reply:
        """Post something."""
        if not self.authenticated:
            return _refuse_unauthenticated("posting")
        number = self.tweet_counter
        self.tweets[number] = {
            "id": number,
            "username": self.username,
            "content": content,
            "tags": [] if tags is _NOT_GIVEN else tags,
            "mentions": self._nobody if mentions is _NOT_GIVEN else mentions,
        }
        self.tweet_counter += 1
        return self.tweets[number]

    def retweet(self, tweet_id: int) -> Reply:
        """Post a tweet again, once."""
        if not self.authenticated:
            return _refuse_unauthenticated("retweeting")
        if tweet_id not in self.tweets:
            return _refuse_unknown_tweet(tweet_id)
        own = self.retweets.setdefault(self.username, [])
        if tweet_id in own:
            return {"retweet_status": "Already retweeted"}
        own.append(tweet_id)
        return {"retweet_status": "Successfully retweeted"}

    def comment(self, tweet_id: int, comment_content: str) -> Reply:
        """Comment on a tweet."""
        if not self.authenticated:
            return _refuse_unauthenticated("commenting")
        if tweet_id not in self.tweets:
            return _refuse_unknown_tweet(tweet_id)
        self.comments.setdefault(tweet_id, []).append(
            {"username": self.username, "content": comment_content}
        )
        return {"comment_status": "Comment added successfully"}

    def mention(self, tweet_id: int, mentioned_usernames: list[str]) -> Reply:
        """Mention users in any tweet, for any user."""
        if tweet_id not in self.tweets:
            return _refuse_unknown_tweet(tweet_id)
        self.tweets[tweet_id]["mentions"].extend(mentioned_usernames)
        return {"mention_status": "Users mentioned successfully"}

    def follow_user(self, username_to_follow: str) -> Reply:
        """Follow somebody."""
        if not self.authenticated:
            return _refuse_unauthenticated("following")
        if username_to_follow in self.following_list:
            return {"follow_status": False}
        self.following_list.append(username_to_follow)
        return {"follow_status": True}

    def unfollow_user(self, username_to_unfollow: str) -> Reply:
        """Stop following somebody."""
        if not self.authenticated:
            return _refuse_unauthenticated("unfollowing")
        if username_to_unfollow not in self.following_list:
            return {"unfollow_status": False}
        self.following_list.remove(username_to_unfollow)
        return {"unfollow_status": True}

    def list_all_following(self) -> Reply:
        """Return the users that the user follows."""
        if not self.authenticated:
            return _refuse_unauthenticated("listing following")
        return {"following_list": self.following_list}

    def get_tweet(self, tweet_id: int) -> Reply:
        """Return a tweet."""
        return self.tweets[tweet_id] if tweet_id in self.tweets else _refuse_unknown_tweet(tweet_id)

    def get_user_tweets(self, username: str) -> list[Reply]:
        """Return all tweets of somebody."""
        return [tweet for tweet in self.tweets.values() if tweet["username"] == username]

    def search_tweets(self, keyword: str) -> list[Reply]:
        """Return the tweets that contain ``keyword``, or have it as a tag, in any case."""
        wanted = keyword.lower()
        return [
            tweet
            for tweet in self.tweets.values()
            if wanted in tweet["content"].lower()
            or wanted in [tag.lower() for tag in tweet["tags"]]
        ]

    def get_tweet_comments(self, tweet_id: int) -> Reply | list[dict[str, str]]:
        """Return the comments on a tweet."""
        if tweet_id not in self.tweets:
            return _refuse_unknown_tweet(tweet_id)
        return self.comments.get(tweet_id, [])

    def get_user_stats(self, username: str) -> Reply:
        """Count somebody's tweets and retweets, and whom the user himself follows."""
        return {
            "tweet_count": len(self.get_user_tweets(username)),
            "following_count": len(self.following_list) if username == self.username else 0,
            "retweet_count": len(self.retweets.get(username, [])),
        }


def _refuse_unauthenticated(doing: str) -> Reply:
    return refuse_request(f"User not authenticated. Please authenticate before {doing}.")


def _refuse_unknown_tweet(tweet_id: int) -> Reply:
    return refuse_request(f"Tweet with ID {tweet_id} not found.")
