import sqlite3
import threading

import pytest

from servers.common.connections import close_with
from tests.clock import BOUND_S


class Owner:
    pass


def test_a_connection_ends_with_its_owner() -> None:
    owner, connection = Owner(), sqlite3.connect(":memory:")
    close_with(owner, connection)
    del owner
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


@pytest.mark.filterwarnings("error")
def test_an_owner_that_is_collected_in_another_thread_is_no_error() -> None:
    owners = [Owner()]
    connection = sqlite3.connect(":memory:")
    close_with(owners[0], connection)
    thread = threading.Thread(target=owners.clear)
    thread.start()
    thread.join(BOUND_S)
    assert connection.execute("SELECT 1").fetchone() == (1,)
    connection.close()
