import pytest

from placet import Approval, ConfigurationError


@pytest.mark.parametrize("approvers", [[], ["*"], ["finance", "*"]])
def test_an_approval_names_who_may_give_it(approvers: list[str]) -> None:
    """Nobody holds the role `*`, so such a call would wait until it expires."""
    with pytest.raises(ConfigurationError, match="approver"):
        Approval.always(approvers=approvers)
