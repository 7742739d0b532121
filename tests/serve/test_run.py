"""Workers share an address, and the kernel deals connections out to them."""

import contextlib
import pickle
import select
import socket
import sys

import pytest

from regard.serve.run import OwnSocket, take_address

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux deals them out")


def test_each_process_gets_a_socket_of_its_own_and_its_share_of_connections():
    with take_address("127.0.0.1", 0) as address, contextlib.ExitStack() as opened:
        assert isinstance(address, OwnSocket)
        workers = [opened.enter_context(pickle.loads(pickle.dumps(address))) for _ in range(2)]
        for worker in workers:
            assert worker.getsockname() == address.getsockname()
            worker.listen(256)
        for _ in range(200):
            opened.enter_context(socket.create_connection(address.getsockname()))
        taken = []
        for worker in workers:
            worker.setblocking(False)
            count = 0
            while select.select([worker], [], [], 0)[0]:
                opened.enter_context(worker.accept()[0])
                count += 1
            taken.append(count)
    assert sum(taken) == 200  # none went to the address itself, which does not listen
    assert min(taken) > 50


def test_another_server_cannot_take_the_address():
    with (
        take_address("127.0.0.1", 0) as address,
        socket.socket() as other,
        pytest.raises(OSError, match="in use"),
    ):
        other.bind(address.getsockname())
