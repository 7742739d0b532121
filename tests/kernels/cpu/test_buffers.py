import gc
import mmap
import os
import sys
import threading

import pytest
import torch

from regard.kernels.cpu import buffers
from regard.kernels.cpu.buffers import Shelf, empty

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="buffers are only kept on Linux"
)

MILLION = 1 << 20


def test_a_buffer_is_used_again_once_its_tensor_is_gone():
    shelf = Shelf(100 * MILLION)
    first = shelf.take(2 * MILLION)
    address = first.data_ptr()
    assert shelf.take(2 * MILLION).data_ptr() != address
    del first
    gc.collect()
    assert address in {
        tensor.data_ptr() for tensor in (shelf.take(2 * MILLION), shelf.take(2 * MILLION))
    }


def test_a_view_keeps_its_buffer_from_being_used_again():
    shelf = Shelf(100 * MILLION)
    view = shelf.take(2 * MILLION).view(2, MILLION)[1].detach()
    view.fill_(3.0)
    gc.collect()
    shelf.take(2 * MILLION).fill_(4.0)
    assert bool((view == 3.0).all())


def test_a_smaller_tensor_takes_a_buffer_up_to_twice_its_size():
    shelf = Shelf(100 * MILLION)
    address = shelf.take(2 * MILLION).data_ptr()
    assert shelf.take(MILLION // 2).data_ptr() != address
    assert shelf.take(3 * MILLION // 2).data_ptr() == address


def test_no_more_than_the_capacity_lies_idle():
    shelf = Shelf(20 * MILLION)
    tensors = [shelf.take(2 * MILLION) for _ in range(5)]
    assert shelf.idle == 0
    del tensors
    assert 0 < shelf.idle <= 20 * MILLION
    shelf.clear()
    assert shelf.idle == 0


def test_large_tensors_come_from_the_shelf_and_small_ones_do_not():
    buffers.release()
    large = empty(100, 20_000)
    assert large.shape == (100, 20_000) and large.dtype == torch.float32
    assert large.is_contiguous() and large.data_ptr() % 64 == 0
    small = empty(3, 5)
    assert small.shape == (3, 5) and empty(0, 7).shape == (0, 7)
    del large, small
    assert buffers._SHELF.idle > 0
    buffers.release()
    assert buffers._SHELF.idle == 0


def test_a_gradient_may_be_kept_in_a_buffer():
    weight = torch.ones(2 * MILLION, requires_grad=True)
    kept = empty(2 * MILLION).fill_(2.0)
    (weight * kept).sum().backward()
    assert torch.equal(weight.grad, kept)


def test_many_threads_never_share_a_buffer():
    shelf, clashes = Shelf(200 * MILLION), []

    def work(number):
        for _ in range(30):
            tensor = shelf.take(MILLION)
            tensor[:1000] = number
            if not bool((tensor[:1000] == number).all()):
                clashes.append(number)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not clashes


def test_a_system_without_huge_pages_gets_plain_ones(monkeypatch):
    """Issue 10: kernels built without them, and sandboxes, answer madvise with EINVAL."""
    monkeypatch.setattr(mmap, "MADV_HUGEPAGE", 12345)
    tensor = Shelf(MILLION).take(2 * MILLION)
    assert float(tensor.fill_(1.0).sum()) == 2 * MILLION
    monkeypatch.delattr(mmap, "MADV_HUGEPAGE")
    assert len(Shelf(MILLION).take(2 * MILLION)) == 2 * MILLION


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_writes_to_its_own_copy():
    tensor = Shelf(MILLION).take(2 * MILLION)
    tensor[:10] = 1.0
    child = os.fork()
    if child == 0:
        tensor[:10] = 2.0
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert bool((tensor[:10] == 1.0).all())
