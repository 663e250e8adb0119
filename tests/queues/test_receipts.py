"""A receipt comes back from its text unchanged, and nothing else passes for one."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from queues import receipts


def test_receipts_are_different_each_time_and_come_back_from_their_text() -> None:
    made = [receipts.make() for _ in range(1_000)]

    assert len(set(made)) == 1_000
    assert [receipts.parse(receipts.to_text(each)) for each in made] == made


def test_a_receipt_fills_eight_bytes_of_a_row_and_leaves_its_lowest_bit() -> None:
    for each in (receipts.make() for _ in range(1_000)):
        assert 1 << 62 <= each < 1 << 63
        assert not each & receipts.HAS_DEDUP_KEY


def test_the_mark_of_a_dedup_key_survives_the_text() -> None:
    marked = receipts.make() | receipts.HAS_DEDUP_KEY

    assert receipts.parse(receipts.to_text(marked)) == marked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "400000000000000",
        "40000000000000000",
        "4000000000000000\n",
        " 4000000000000000",
        "+400000000000000",
        "4_00000000000000",
        "0x40000000000000",
        "3fffffffffffffff",
        "8000000000000000",
        "4000000000000ABC",
        "400000000000000g",
        "400000000000000\N{FULLWIDTH DIGIT ZERO}",
    ],
)
def test_what_is_no_receipt_is_refused(text: str) -> None:
    assert receipts.parse(text) is None


@given(st.text(st.sampled_from("0123456789abcdef"), min_size=14, max_size=18) | st.text())
def test_what_is_taken_for_a_receipt_is_one(text: str) -> None:
    parsed = receipts.parse(text)

    assert parsed is None or receipts.to_text(parsed) == text
